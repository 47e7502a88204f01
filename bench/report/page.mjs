/** The page of figures as sections, so that what is measured anew takes the place of what stood there, and all else stays. */

/** `[{ title, text }]` in the order of the page; what stands before the first heading belongs to none. */
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
 * The sections with `measured` among them, texts by title: each in its place, or, where the page had none of that title, behind the last
 * of those that stand before it in `order`.
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
