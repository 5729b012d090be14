'use strict';
(() => {
  // Tables: a click on a heading sorts by that column, numbers by their value.
  const number = text => { const found = /^(?:>=)?(-?[\d.]+)/.exec(text); return found ? Number(found[1]) : NaN; };
  for (const table of document.querySelectorAll('table')) {
    if (!table.tHead) continue;
    table.classList.add('sorts');
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, at) => heading.addEventListener('click', () => {
      const order = heading.dataset.order === '-1' ? 1 : -1;
      headings.forEach(one => delete one.dataset.order);
      heading.dataset.order = order;
      const rows = [...table.tBodies[0].rows].map(row => [row.cells[at].textContent, row]);
      rows.sort(([a], [b]) => {
        const [x, y] = [number(a), number(b)];
        if (isNaN(x) && isNaN(y)) return order * a.localeCompare(b);
        return isNaN(x) ? 1 : isNaN(y) ? -1 : order * (x - y);
      });
      table.tBodies[0].append(...rows.map(([, row]) => row));
    }));
  }

  const canvas = document.getElementById('timeline');
  if (!canvas) return;
  // Times are relative to the begin, in the clock's unit.
  const data = JSON.parse(document.getElementById('slices').textContent);
  const unpack = deltas => {
    const slices = []; let at = 0;
    for (let i = 0; i < deltas.length; i += 3) { at += deltas[i]; slices.push([at, at + deltas[i + 1], deltas[i + 2]]); at += deltas[i + 1]; }
    return slices;
  };
  const lanes = data.lanes.map(lane => ({ name: lane.name, tasks: unpack(lane.tasks), irqs: unpack(lane.interrupts), losses: lane.losses }));
  const LEFT = 64, TOP = 22, ROW = 34, span = Math.max(1, data.span);
  let from = 0, to = span, found = null;
  const about = document.getElementById('about'), search = document.getElementById('search');
  const task = number => number < 0 ? 'several tasks' : data.tasks[number];
  const long = time => data.unit !== 'ns' ? `${time} ticks` : time >= 1e9 ? `${(time / 1e9).toFixed(6)} s` : time >= 1e6 ? `${(time / 1e6).toFixed(3)} ms` : `${(time / 1e3).toFixed(3)} us`;
  const hue = number => (number * 137.508) % 360;
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name);
  const x = time => LEFT + (time - from) / (to - from) * (canvas.clientWidth - LEFT - 4);
  const time = px => from + (px - LEFT) / (canvas.clientWidth - LEFT - 4) * (to - from);
  // The first slice that ends after a time.
  const after = (slices, at) => { let low = 0, high = slices.length; while (low < high) { const mid = (low + high) >> 1; if (slices[mid][1] <= at) low = mid + 1; else high = mid; } return low; };

  function draw() {
    const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = TOP + lanes.length * ROW + 4;
    canvas.width = width * scale; canvas.height = height * scale; canvas.style.height = `${height}px`;
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale); pen.clearRect(0, 0, width, height); pen.font = '11px ui-monospace, monospace'; pen.textBaseline = 'middle';
    const text = style('--dim');
    const step = (() => { const wanted = (to - from) / Math.max(2, width / 130), ten = 10 ** Math.floor(Math.log10(wanted)); return [1, 2, 5, 10].map(n => n * ten).find(n => n >= wanted); })();
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      pen.fillStyle = style('--line'); pen.fillRect(x(at), TOP - 4, 1, height - TOP);
      pen.fillStyle = text; pen.fillText(`+${long(at)}`, x(at) + 3, 9);
    }
    const wanted = search.value.trim().toLowerCase();
    lanes.forEach((lane, row) => {
      const y = TOP + row * ROW;
      pen.fillStyle = text; pen.fillText(lane.name, 2, y + ROW / 2);
      pen.fillStyle = style('--lane'); pen.fillRect(LEFT, y + 2, width - LEFT - 4, ROW - 6);
      const strip = (slices, top, high, color, named) => {
        // Slices narrower than a pixel are one.
        let until = -1;
        for (let i = after(slices, from); i < slices.length && slices[i][0] < to; i++) {
          const [begin, end, number] = slices[i], left = Math.max(LEFT, x(begin)), right = Math.min(width - 4, x(end));
          if (right < until) continue;
          const wide = Math.max(0.6, right - left);
          until = left + 0.6;
          pen.fillStyle = color(number); pen.fillRect(left, top, wide, high);
          if (named && wide > 44) { pen.save(); pen.beginPath(); pen.rect(left, top, wide - 2, high); pen.clip(); pen.fillStyle = '#000'; pen.fillText(task(number), left + 3, top + high / 2); pen.restore(); }
        }
      };
      const dims = number => wanted && !task(number).toLowerCase().includes(wanted);
      strip(lane.tasks, y + 2, ROW - 12, number => number < 0 ? (wanted ? '#8884' : '#888c') : `hsl(${hue(number)} 60% ${dims(number) ? '50% / .15' : '70%'})`, true);
      strip(lane.irqs, y + ROW - 9, 5, () => style('--irq'), false);
      pen.fillStyle = style('--mark');
      for (const at of lane.losses) if (at >= from && at <= to) pen.fillRect(x(at) - 1, y, 2, ROW - 2);
    });
    about.textContent = found || `${data.begin} + ${long(Math.round(from))} to ${long(Math.round(to))}; wheel or + - zooms, dragging or arrows move, 0 shows all${data.least ? `; slices below ${long(data.least)} may be joined` : ''}`;
  }
  function zoom(factor, at) {
    const least = data.unit === 'ns' ? 20 : 2, wide = Math.min(span, Math.max(least, (to - from) * factor));
    const share = (at - from) / (to - from);
    from = Math.min(Math.max(0, at - share * wide), span - wide); to = from + wide; draw();
  }
  function move(by) { const wide = to - from; from = Math.min(Math.max(0, from + by), span - wide); to = from + wide; draw(); }
  canvas.addEventListener('wheel', event => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, time(event.offsetX)); }, { passive: false });
  let held = null;
  canvas.addEventListener('pointerdown', event => { held = event.offsetX; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener('pointerup', () => { held = null; });
  canvas.addEventListener('pointermove', event => {
    if (held !== null) { move(time(held) - time(event.offsetX)); held = event.offsetX; return; }
    const lane = lanes[Math.floor((event.offsetY - TOP) / ROW)], at = time(event.offsetX), near = (to - from) / canvas.clientWidth;
    found = null;
    if (lane) {
      const slice = lane.tasks[after(lane.tasks, at)];
      if (slice && slice[0] <= at + near) found = `${lane.name}: ${task(slice[2])}, ${long(slice[1] - slice[0])} from +${long(slice[0])}`;
      const lost = lane.losses.find(one => Math.abs(one - at) < 3 * near);
      if (lost !== undefined) found = `${lane.name}: events were lost before +${long(lost)}`;
    }
    draw();
  });
  canvas.addEventListener('keydown', event => {
    const wide = to - from, middle = (from + to) / 2;
    const act = { '+': () => zoom(0.5, middle), '=': () => zoom(0.5, middle), '-': () => zoom(2, middle), '0': () => { from = 0; to = span; draw(); }, ArrowLeft: () => move(-wide / 4), ArrowRight: () => move(wide / 4) }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  search.addEventListener('input', draw);
  for (const button of document.querySelectorAll('button[data-from]')) button.addEventListener('click', () => {
    const begin = Number(button.dataset.from), wide = Math.max(1, Number(button.dataset.time));
    from = Math.max(0, begin - wide / 2); to = Math.min(span, begin + wide * 1.5); draw(); canvas.scrollIntoView({ block: 'nearest' }); canvas.focus();
  });
  window.addEventListener('resize', draw);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  window.rtracePage = { window: () => [from, to], draw };
  draw();
})();
