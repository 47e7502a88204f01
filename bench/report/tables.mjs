/** Reads tables of Markdown as lists of objects with the headings as keys. */
export function readTables(markdown) {
  const tables = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    if (!lines[at].startsWith('|') || !/^\|( -+ \|)+$/.test(lines[at + 1] ?? '')) continue;
    const heading = cellsOf(lines[at]);
    const rows = [];
    for (at += 2; lines[at]?.startsWith('|'); at += 1) {
      const cells = cellsOf(lines[at]);
      rows.push(Object.fromEntries(heading.map((name, index) => [name, cells[index] ?? ''])));
    }
    tables.push({ heading, rows });
  }
  return tables;
}

/** Returns the first table that has all these headings. */
export function tableWith(markdown, ...names) {
  return readTables(markdown).find(({ heading }) => names.every((name) => heading.includes(name)));
}

/** Returns the number at the beginning of a cell, with thousands separated by commas. */
export const numberOf = (cell) => Number.parseFloat(cell.replaceAll(',', ''));

function cellsOf(line) {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}
