/** Converts a page to a record, or to one per section. */
import type { PageReading } from '../pages/page-reader.js';
import { givenFields, type FieldValue, type SourceRecord } from '../source/source-run.js';

/** Limit of sections per page; the rest stays with the last one. */
const SECTIONS_MAX = 500;
const NAME_CHARACTERS_MAX = 512;

type Fields = Readonly<Record<string, FieldValue | undefined>>;

export function recordsOf(page: PageReading, url: string, split: 'page' | 'heading'): SourceRecord[] {
  const shared: Fields = {
    description: page.description,
    language: page.language,
    image: page.image,
    published: page.published,
    modified: page.modified,
    section: page.section,
  };
  const whole = record(url, {
    url,
    title: page.title,
    text: page.text,
    headings: page.headings,
    ...shared,
    ...page.more,
  });
  const sections = page.sections.filter(({ heading, text }) => heading !== undefined || text !== '');
  if (split === 'page' || sections.filter(({ heading }) => heading?.anchor !== undefined).length < 2) return [whole];
  const records: { name: string; title: string; headings: string[]; texts: string[] }[] = [];
  const names = new Set<string>();
  for (const { heading, text } of sections) {
    const last = records.at(-1);
    const name = heading?.anchor === undefined ? url : `${url}#${encodeURI(heading.anchor)}`;
    // The section has no anchor of its own, or there are too many: it becomes part of the previous one.
    const isPart = heading?.anchor === undefined || names.has(name) || records.length >= SECTIONS_MAX;
    if (last !== undefined && isPart) {
      last.texts.push(...(heading === undefined ? [] : [heading.text]), text);
      if (heading !== undefined) last.headings.push(heading.text);
    } else {
      names.add(name);
      records.push({
        name,
        title: heading?.text ?? page.title,
        headings: heading === undefined ? [] : [heading.text],
        texts: [text],
      });
    }
  }
  return records.map(({ name, title, headings, texts }) =>
    record(name, {
      url: name,
      title,
      page: page.title,
      headings,
      text: texts.join('\n').trim(),
      ...shared,
      ...page.more,
    }),
  );
}

/** Returns the record of a PDF that the site links to; a list with a document resource reads its content. */
export function documentRecord(url: string): SourceRecord {
  const file = decodeURIComponentOr(new URL(url).pathname.split('/').at(-1) ?? '');
  return record(url, { url, title: file.replace(/\.pdf$/i, '').replace(/[_-]+/g, ' '), document: url });
}

function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function record(name: string, fields: Fields): SourceRecord {
  return { name: name.slice(0, NAME_CHARACTERS_MAX), fields: givenFields(fields) };
}
