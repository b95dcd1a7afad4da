// A small tree whose leaves can be dragged, beside the measure that the page explains: <div class="plaything"
// data-measure="cost">, "tsd" or "purity". Every join shows what it adds.
(function () {
  "use strict";
  const COLORS = { a: "#0072b2", b: "#a86f00", c: "#00795a", d: "#b0508a", e: "#2b7fb8", f: "#c04e00", g: "#6a48d8", h: "#a04b86" };
  // Two groups of four, each of two pairs; thick within pairs, thin between them.
  const GRAPH = [["a", "b", 3], ["c", "d", 3], ["e", "f", 3], ["g", "h", 3], ["a", "c", 1], ["b", "d", 1], ["b", "c", 1],
    ["e", "g", 1], ["f", "h", 1], ["e", "h", 1], ["d", "e", 1]];
  const SPOTS = { a: [45, 60], b: [110, 45], c: [60, 140], d: [135, 130], e: [200, 175], f: [255, 150], g: [190, 250], h: [260, 240] };
  const MIXED = [[["a", "e"], ["c", "g"]], [["b", "f"], ["d", "h"]]];
  const TWO_GROUPS = [["a", "e", "f", "h"], ["b", "c", "d", "g"]];
  const CLASSES = { a: "blue", b: "blue", c: "blue", d: "blue", e: "orange", f: "orange", g: "orange", h: "orange" };
  const CLASS_COLORS = { blue: "#0072b2", orange: "#c04e00" };

  const isLeaf = (node) => typeof node === "string";
  const leaves = (node) => (isLeaf(node) ? [node] : node.flatMap(leaves));
  const joins = (node) => (isLeaf(node) ? [] : [node, ...node.flatMap(joins)]);
  const all = (node) => (isLeaf(node) ? [node] : [node, ...node.flatMap(all)]);
  const sum = (values) => values.reduce((total, value) => total + value, 0);

  // Similarity between the sides of a join: of pairs that are below it, and not both below one of its sides.
  function across(join) {
    const within = (node, i, j) => leaves(node).includes(i) && leaves(node).includes(j);
    const meet = ([i, j]) => within(join, i, j) && !join.some((side) => within(side, i, j));
    return sum(GRAPH.filter(meet).map(([, , w]) => w));
  }

  const TOTAL = sum(GRAPH.map(([, , w]) => w));
  const degree = (name) => sum(GRAPH.filter(([i, j]) => i === name || j === name).map(([, , w]) => w));
  const drawn = (node) => sum(leaves(node).map(degree)) / (2 * TOTAL);
  // Share of the edges that meet at a join, and of independent pairs drawn by degree.
  const edgesAt = (join) => across(join) / TOTAL;
  // The same leaf drawn twice meets itself at its parent.
  const chanceAt = (join) => drawn(join) ** 2 - sum(join.filter((side) => !isLeaf(side)).map((side) => drawn(side) ** 2));
  const divergence = (join) => (edgesAt(join) ? edgesAt(join) * Math.log(edgesAt(join) / chanceAt(join)) : 0);
  const INFORMATION = sum(GRAPH.map(([i, j, w]) => (w / TOTAL) * Math.log(w / TOTAL / ((2 * degree(i) * degree(j)) / (2 * TOTAL) ** 2))));

  const ofClass = (node, name) => leaves(node).filter((leaf) => CLASSES[leaf] === name).length;
  const pairs = (n) => (n * (n - 1)) / 2;
  const PAIRS = sum(Object.keys(CLASS_COLORS).map((name) => pairs(ofClass(MIXED, name))));

  // Over pairs of a class that meet at this join: how pure is it?
  function purityAt(join) {
    const meeting = (name) => pairs(ofClass(join, name)) - sum(join.map((side) => pairs(ofClass(side, name))));
    const parts = Object.keys(CLASS_COLORS).map((name) => (meeting(name) * ofClass(join, name)) / leaves(join).length);
    return sum(parts) / PAIRS;
  }

  function without(node, leaf) {
    if (isLeaf(node)) return node;
    const rest = node.filter((child) => child !== leaf).map((child) => without(child, leaf));
    return rest.length === 1 && rest.length < node.length ? rest[0] : rest;
  }

  // The leaf in a new join with the node over exactly these leaves.
  function beside(node, group, leaf) {
    if (leaves(node).join() === group) return [node, leaf];
    return isLeaf(node) ? node : node.map((child) => beside(child, group, leaf));
  }

  // A leaf or a branch in a new join with the target.
  function newJoin(tree, branch, target) {
    const inside = leaves(branch);
    const group = leaves(target).filter((name) => !inside.includes(name)).join();
    return group ? beside(without(tree, branch), group, branch) : tree;
  }

  // The leaf as one more child of the target, or of the target's parent: no join comes or goes.
  function sameJoins(tree, leaf, target) {
    const into = isLeaf(target) ? joins(tree).find((join) => join.includes(target)) : target;
    const home = joins(tree).find((join) => join.includes(leaf));
    if (into === home || home.length === 2) return tree;
    const rebuilt = (node) => {
      if (isLeaf(node)) return node;
      const children = node.filter((child) => child !== leaf).map(rebuilt);
      return node === into ? [...children, leaf] : children;
    };
    return rebuilt(tree);
  }

  const percent = (share) => `${Math.round(100 * share)} %`;
  // `best`: what an exhaustive search over all such trees gives; tests/test_docs_plaything.py computes it again.
  const MEASURES = {
    cost: {
      title: "cost", best: 56, lower: true, digits: 0, start: MIXED, move: newJoin,
      of: (tree) => sum(joins(tree).map((join) => across(join) * leaves(join).length)),
      at: (join) => `${across(join)} × ${leaves(join).length}`,
      says: "At each join: the similarity that meets there × the leaves below.",
    },
    tsd: {
      title: "TSD", best: 0.407, lower: false, digits: 3, start: TWO_GROUPS, move: sameJoins,
      of: (tree) => sum(joins(tree).map(divergence)) / INFORMATION,
      at: (join) => `${percent(edgesAt(join))} : ${percent(chanceAt(join))}`,
      says: "At each join: the share of the edges that meet there : the share by chance.",
    },
    purity: {
      title: "purity", best: 1, lower: false, digits: 2, start: MIXED, move: newJoin,
      of: (tree) => sum(joins(tree).map(purityAt)),
      at: (join) => Object.keys(CLASS_COLORS).map((name) => ofClass(join, name)).join(" : "),
      says: "At each join: blue : orange leaves below.",
    },
  };

  function play(box) {
    const measure = MEASURES[box.dataset.measure];
    const hasGraph = box.dataset.measure !== "purity";
    const color = (name) => (hasGraph ? COLORS[name] : CLASS_COLORS[CLASSES[name]]);
    box.innerHTML = `<div class="pictures">${hasGraph ? '<svg viewBox="0 0 300 290" role="img" aria-label="Eight points; lines join those that are alike"></svg>' : ""}
      <svg class="tree" viewBox="0 0 320 290" role="img" aria-label="A tree of the eight points; its leaves can be dragged"></svg></div>
      <div class="controls"><span>${measure.title} <output class="now"></output></span><span>best there is <output class="best"></output></span>
      <button type="button" class="search">Let the search make a move</button><button type="button" class="again">Start again</button></div>
      <p>${measure.says}</p>`;
    const svg = box.querySelector("svg.tree");
    let tree = measure.start;
    let places = [];

    function draw(parent, tag, attributes, text) {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      if (text !== undefined) element.textContent = text;
      parent.append(element);
      return element;
    }

    function dot(parent, name, x, y) {
      const circle = draw(parent, "circle", { cx: x, cy: y, r: 14, fill: color(name) });
      const label = draw(parent, "text", { x, y: y + 5, "text-anchor": "middle", fill: "white", "font-size": 15, "pointer-events": "none" }, name);
      return [circle, label];
    }

    function layout(node, order) {
      let place;
      if (isLeaf(node)) place = { node, x: 27 + 38 * order.next++, y: 268, height: 0 };
      else {
        const below = node.map((child) => layout(child, order));
        const height = Math.max(...below.map((child) => child.height)) + 1;
        place = { node, x: (below[0].x + below.at(-1).x) / 2, y: 268 - 33 * height, height, below };
      }
      places.push(place);
      return place;
    }

    function show() {
      svg.replaceChildren();
      places = [];
      layout(tree, { next: 0 });
      for (const place of places.filter((found) => found.below)) {
        const [first, last] = [place.below[0], place.below.at(-1)];
        const path = place.below.map((child) => `M${child.x} ${child.y}V${place.y}`).join("") + `M${first.x} ${place.y}H${last.x}`;
        draw(svg, "path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "square" });
      }
      for (const place of places.filter((found) => found.below)) {
        // Beside the line that leads up from the join; the root has none.
        const at = place.node === tree ? { x: place.x, "text-anchor": "middle" } : { x: place.x + 5, "text-anchor": "start" };
        draw(svg, "text", { class: "share", y: place.y - 5, "font-size": 12.5, "pointer-events": "none", ...at }, measure.at(place.node));
      }
      for (const place of places.filter((found) => !found.below)) {
        const [circle, label] = dot(svg, place.node, place.x, place.y);
        circle.setAttribute("cursor", "grab");
        circle.dataset.leaf = place.node;
        circle.addEventListener("pointerdown", (event) => drag(event, place.node, circle, label));
      }
      box.dataset.tree = JSON.stringify(tree);
      box.querySelector(".now").textContent = measure.of(tree).toFixed(measure.digits);
      box.querySelector(".best").textContent = measure.best.toFixed(measure.digits);
    }

    function spot(event) {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      return [place.x, place.y];
    }

    function nearest(x, y, leaf) {
      const others = places.filter((place) => place.node !== leaf);
      return others.reduce((a, b) => (Math.hypot(a.x - x, a.y - y) < Math.hypot(b.x - x, b.y - y) ? a : b));
    }

    function drag(event, leaf, circle, label) {
      event.preventDefault();
      const mark = draw(svg, "circle", { r: 20, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": "4 3", cx: -99, cy: -99 });
      const move = (now) => {
        const [x, y] = spot(now);
        circle.setAttribute("cx", x);
        circle.setAttribute("cy", y);
        label.setAttribute("x", x);
        label.setAttribute("y", y + 5);
        const target = nearest(x, y, leaf);
        mark.setAttribute("cx", target.x);
        mark.setAttribute("cy", target.y);
      };
      const drop = (now) => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", drop);
        removeEventListener("pointercancel", drop);
        if (now.type === "pointerup") tree = measure.move(tree, leaf, nearest(...spot(now), leaf).node);
        show();
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", drop);
      addEventListener("pointercancel", drop);
    }

    function search() {
      const gain = (candidate) => (measure.lower ? -1 : 1) * measure.of(candidate);
      let better = tree;
      const branches = measure.move === newJoin ? all(tree).slice(1) : leaves(tree);
      for (const branch of branches) {
        for (const target of all(tree).filter((node) => node !== branch)) {
          const candidate = measure.move(tree, branch, target);
          if (gain(candidate) > gain(better) + 1e-9) better = candidate;
        }
      }
      tree = better;
      show();
    }

    if (hasGraph) {
      const graph = box.querySelector("svg");
      for (const [i, j, w] of GRAPH) {
        draw(graph, "line", { x1: SPOTS[i][0], y1: SPOTS[i][1], x2: SPOTS[j][0], y2: SPOTS[j][1], stroke: "currentColor", "stroke-opacity": 0.45, "stroke-width": 1.5 * w });
      }
      for (const name of Object.keys(SPOTS)) dot(graph, name, ...SPOTS[name]);
    }
    box.querySelector(".again").addEventListener("click", () => {
      tree = measure.start;
      show();
    });
    box.querySelector(".search").addEventListener("click", search);
    show();
  }

  const start = () => document.querySelectorAll(".plaything[data-measure]").forEach(play);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
