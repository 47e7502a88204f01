/** Treats the page of benchmarks as sections, so that new measurements replace old ones and all else stays. */

/** Returns `[{ title, text }]` in the order of the page. The text before the first heading belongs to no section. */
export function sectionsOf(page) {
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      return { title: section.slice(0, end).trim(), text: section.slice(end).trim() };
    });
}

/**
 * Returns the sections with the texts of `measured` by title: each in its place, or, if the page had no such title, behind the last section
 * that precedes it in `order`.
 */
export function withMeasured(sections, measured, order) {
  const result = sections.map(({ title, text }) => ({ title, text: measured.get(title) ?? text }));
  for (const title of order) {
    if (!measured.has(title) || result.some((section) => section.title === title)) continue;
    const before = new Set(order.slice(0, order.indexOf(title)));
    const at = result.findLastIndex((section) => before.has(section.title)) + 1;
    result.splice(at, 0, { title, text: measured.get(title) });
  }
  return result;
}

export const pageOf = (introduction, sections) =>
  [introduction, ...sections.map(({ title, text }) => `## ${title}\n\n${text}\n`)].join('\n');
