/** Feeds of nine formats with the same three items, and common faults of real feeds. */
export interface Sample {
  readonly name: string;
  readonly text: string;
}

const DATES = ['Mon, 02 Nov 2026 10:00:00 GMT', 'Tue, 03 Nov 2026 10:00:00 +0200', 'Wed, 04 Nov 2026 10:00:00 EST'];
const ISO_DATES = ['2026-11-02T10:00:00Z', '2026-11-03T10:00:00+02:00', '2026-11-04T10:00:00.000-05:00'];
export const TITLES = ['Gannets dive', 'Terns hover & wait', 'Puffins paddle'];
const url = (number: number) => `https://birds.example/news/${number}?a=1&b=${number}`;
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const rssItems = (withDates: boolean) =>
  TITLES.map(
    (title, number) =>
      `<item><title>${escaped(title)}</title><link>${escaped(url(number))}</link><description>${escaped(`<p>About <b>${title.split(' ')[0]}</b> at sea.</p>`)}</description>${withDates ? `<guid isPermaLink="false">item-${number}</guid><pubDate>${DATES[number]}</pubDate><category>sea</category><author>a@birds.example (Ann Auk)</author><enclosure url="/sound/${number}.mp3" length="1234" type="audio/mpeg"/>` : ''}</item>`,
  ).join('\n');
const rss = (version: string, withDates = false) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="${version}"><channel><title>Sea birds</title><link>https://birds.example/</link><description>News</description><language>en</language>\n${rssItems(withDates)}\n</channel></rss>\n`;
const rdfItems = TITLES.map(
  (title, number) =>
    `<item rdf:about="${escaped(url(number))}"><title>${escaped(title)}</title><link>${escaped(url(number))}</link><description>About it</description><dc:date>${ISO_DATES[number]}</dc:date><dc:creator>Ann Auk</dc:creator></item>`,
).join('\n');
const rdf = (namespace: string) =>
  `<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns="${namespace}"><channel rdf:about="https://birds.example/"><title>Sea birds</title><link>https://birds.example/</link></channel>\n${rdfItems}\n</rdf:RDF>\n`;
const atom = (namespace: string, [published, updated]: readonly [string, string]) =>
  `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="${namespace}"><title>Sea birds</title><link rel="self" href="https://birds.example/feed"/><author><name>Ann Auk</name></author>\n${TITLES.map(
    (title, number) =>
      `<entry><title type="html">${escaped(escaped(title))}</title><link rel="alternate" href="${escaped(url(number))}"/><id>tag:birds.example,2026:${number}</id><${published}>${ISO_DATES[number]}</${published}><${updated}>${ISO_DATES[number]}</${updated}><content type="html">${escaped('<p>About it, <i>at</i> length.</p>')}</content></entry>`,
  ).join('\n')}\n</feed>\n`;
const json = (version: string) =>
  JSON.stringify(
    {
      version: `https://jsonfeed.org/version/${version}`,
      title: 'Sea birds',
      home_page_url: 'https://birds.example/',
      items: TITLES.map((title, number) => ({
        id: `item-${number}`,
        url: url(number),
        title,
        content_html: '<p>About it</p>',
        date_published: ISO_DATES[number],
        ...(version === '1' ? { author: { name: 'Ann Auk' } } : { authors: [{ name: 'Ann Auk' }] }),
      })),
    },
    undefined,
    1,
  );

export const SAMPLES: readonly Sample[] = [
  { name: 'RSS 0.90', text: rdf('http://my.netscape.com/rdf/simple/0.9/') },
  { name: 'RSS 0.91', text: rss('0.91') },
  { name: 'RSS 0.92', text: rss('0.92', true) },
  { name: 'RSS 1.0', text: rdf('http://purl.org/rss/1.0/') },
  { name: 'RSS 2.0', text: rss('2.0', true) },
  { name: 'Atom 0.3', text: atom('http://purl.org/atom/ns#', ['issued', 'modified']) },
  { name: 'Atom 1.0', text: atom('http://www.w3.org/2005/Atom', ['published', 'updated']) },
  { name: 'JSON Feed 1.0', text: json('1') },
  { name: 'JSON Feed 1.1', text: json('1.1') },
];

export interface BrokenFeed {
  readonly name: string;
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** Returns the text with the fault, or undefined if the format cannot have it. */
type Mistake = (text: string, isXml: boolean) => string | Buffer | undefined;

const onXml =
  (mistake: (text: string) => string | Buffer): Mistake =>
  (text, isXml) =>
    isXml ? mistake(text) : undefined;
const LAUGHS = `<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">${Array.from({ length: 20 }, (_, n) => `<!ENTITY c${n} "${`&${n === 0 ? 'b' : `c${n - 1}`};`.repeat(10)}">`).join('')}]>`;

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'bare ampersands': onXml((text) => text.replaceAll('&amp;', '&')),
  'entities of HTML': onXml((text) => text.replaceAll('Gannets dive', 'Gannets&nbsp;dive &eacute;t&eacute;')),
  'control characters': (text) => text.replaceAll('Gannets', '\x01Gan\x0bnets\x1f').replaceAll('\x01', '\x00'),
  'windows-1252, undeclared': (text) =>
    Buffer.from(text.replace(/ encoding="[^"]*"/, '').replaceAll('Puffins', 'Puffins \x93\xe9t\xe9\x94'), 'latin1'),
  'windows-1252, declared as UTF-8': (text) => Buffer.from(text.replaceAll('Puffins', 'Puffins \xe9t\xe9'), 'latin1'),
  'UTF-16 with a mark': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  'a mark and blank lines in front': (text) => `\ufeff\n\n  ${text}`,
  'a warning of PHP in front': onXml(
    (text) => `<br />\n<b>Warning</b>: Undefined variable in <b>/var/www/feed.php</b> on line <b>3</b><br />\n${text}`,
  ),
  'no declaration': onXml((text) => text.replace(/<\?xml[^>]*\?>\s*/, '')),
  'no closing tag of the root': onXml((text) => text.replace(/<\/(?:rss|feed|rdf:RDF)>\s*$/, '')),
  'cut in the last item': onXml((text) => text.slice(0, text.lastIndexOf('Puffins') + 4)),
  'titles that nobody closes': onXml((text) => text.replace(/<\/title><link/, '<link')),
  'tags closed in the wrong order': onXml((text) =>
    text.replaceAll('</title><link>', '<link>').replaceAll('</link>', '</title></link>'),
  ),
  'dates that are none': (text) => text.replaceAll('2026', 'soon'),
  'dates without zone': (text) =>
    text.replaceAll(/(\d) (?:GMT|EST|\+0200)</g, '$1<').replaceAll(/(:00)(?:\.000)?(?:Z|[+-]0\d:00)/g, '$1'),
  'dates far in the future': (text) => text.replaceAll('2026', '2041'),
  'relative addresses': (text) => text.replaceAll('https://birds.example/news', '/news'),
  'no identifiers': (text) => text.replaceAll(/<(guid|id)[^>]*>[^<]*<\/\1>/g, '').replaceAll(/"id": "[^"]*",/g, ''),
  'one identifier for all': (text) => text.replaceAll(/item-\d/g, 'item').replaceAll(/2026:\d</g, '2026:0<'),
  'elements in capitals': onXml((text) =>
    text.replaceAll(
      /<(\/?)(item|title|link|entry|channel|description)/g,
      (_, slash: string, name: string) => `<${slash}${name.toUpperCase()}`,
    ),
  ),
  'prefixes that nobody declares': onXml((text) =>
    text.replaceAll('<item', '<item zz:odd="1" yy:x=2').replaceAll('<title', '<qq:x>1</qq:x><title'),
  ),
  'a document type with entities': onXml((text) =>
    text.replace(/\?>\s*/, `?>\n${LAUGHS}\n`).replaceAll('Gannets dive', 'Gannets dive &c19;'),
  ),
  'text behind the end': (text, isXml) =>
    isXml ? `${text}<!-- served in 3 ms --><script>track()</script>` : undefined,
  'comments with double hyphens': onXml((text) => text.replace('<title>', '<!-- a -- b --><title>')),
  'attributes without quotes': onXml((text) =>
    text.replaceAll('"false"', 'false').replaceAll('"alternate"', 'alternate').replaceAll('type="html"', 'type=html'),
  ),
  'elements within elements without end': onXml((text) =>
    text.replace('Gannets dive', `Gannets dive${'<i>'.repeat(300)}`),
  ),
  'members of other types': (text, isXml) =>
    isXml ? undefined : text.replaceAll('"item-1"', '17').replaceAll('"Terns hover & wait"', '["Terns"]'),
};

/** Content types are often wrong, too. */
const CONTENT_TYPES = [
  'text/html',
  'application/rss+xml; charset=utf-8',
  '',
  'text/xml; charset=iso-8859-1',
  'application/octet-stream',
];

export function brokenFeeds(): BrokenFeed[] {
  return SAMPLES.flatMap(({ name, text }) =>
    Object.entries(MISTAKES).flatMap(([mistake, make], number) => {
      const broken = make(text, !name.startsWith('JSON'));
      if (broken === undefined) return [];
      const contentType = CONTENT_TYPES[number % CONTENT_TYPES.length] ?? '';
      return [{ name: `${name}: ${mistake}`, bytes: Buffer.from(broken as string), contentType }];
    }),
  );
}
