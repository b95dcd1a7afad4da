// Purity, normalized mutual information and adjusted Rand index, as arbora.metrics computes them.
const UNKNOWN_CLASS = 65535;

const pairsOf = (v) => (v * (v - 1)) / 2;

// cluster: number of the cluster at each place of the leaf order; codes: class at each place.
export function compareFlat(cluster, nClusters, codes, nLabels) {
  return compareCells(nClusters, nLabels, (add) => {
    for (let k = 0; k < codes.length; k++) if (codes[k] !== UNKNOWN_CLASS) add(cluster[k], codes[k], 1);
  });
}

// each(add) calls add(cluster, code, count) for all that is known.
export function compareCells(nClusters, nLabels, each) {
  const byLabel = new Float64Array(nLabels), byCluster = new Float64Array(nClusters), cells = new Map();
  let n = 0;
  each((group, code, count) => {
    const cell = group * nLabels + code;
    cells.set(cell, (cells.get(cell) || 0) + count);
    byLabel[code] += count;
    byCluster[group] += count;
    n += count;
  });
  if (!n) return {};
  const best = new Float64Array(nClusters);
  let mutual = 0, pairs = 0;
  for (const [cell, count] of cells) {
    const group = Math.floor(cell / nLabels), code = cell % nLabels;
    best[group] = Math.max(best[group], count);
    pairs += pairsOf(count);
    mutual += (count / n) * Math.log((n * count) / (byCluster[group] * byLabel[code]));
  }
  const clusterPairs = sumOf(byCluster, pairsOf), labelPairs = sumOf(byLabel, pairsOf);
  const mean = (entropyOf(byCluster, n) + entropyOf(byLabel, n)) / 2;
  const chance = (clusterPairs * labelPairs) / Math.max(pairsOf(n), 1), most = (clusterPairs + labelPairs) / 2;
  return {
    purity: sumOf(best, (v) => v) / n,
    nmi: mean <= 1e-12 ? 1 : Math.max(mutual, 0) / mean,
    ari: most === chance ? 1 : (pairs - chance) / (most - chance),
  };
}

function sumOf(values, of) {
  let sum = 0;
  for (const value of values) sum += of(value);
  return sum;
}

function entropyOf(counts, n) {
  return sumOf(counts, (count) => (count ? -(count / n) * Math.log(count / n) : 0));
}
