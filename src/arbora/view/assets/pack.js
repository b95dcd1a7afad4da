// The binary form in which arrays arrive: u32 header length, JSON header, aligned little-endian arrays.
const PACK_TYPES = { u8: Uint8Array, u16: Uint16Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };

export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  for (const [name, kind, count, offset] of header.arrays) {
    arrays[name] = new PACK_TYPES[kind](buffer, 4 + length + offset, count);
  }
  return { facts: header.facts, arrays };
}

// Text in a page -> bytes: base64 of a deflate stream.
export async function inflateText(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  return inflateBytes(bytes);
}

export async function inflateBytes(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
