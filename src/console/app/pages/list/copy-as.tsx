import { Button, Menu } from '@mantine/core';
import { text } from '../../messages/index.js';
import { useCopying } from '../../ui/copying.js';

/** Content of the request: JSON, or a file of this name. */
export type Content = { readonly json: object } | { readonly file: string; readonly type: string };

interface CopyAsProps {
  /** Path of the search, with its query string. */
  readonly path: string;
  readonly content: Content;
}

/** Shows the page's search as program code. */
export function CopyAs({ path, content }: CopyAsProps) {
  const { told, copy } = useCopying();
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default">{told ?? text.search.copyAs}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(['curl', 'TypeScript', 'Python'] as const).map((language) => (
          <Menu.Item
            key={language}
            onClick={() => {
              copy(PROGRAMS[language](`${location.origin}${path}`, content));
            }}
          >
            {language}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

type Writer = (url: string, content: Content) => string;

const typeOf = (content: Content): string => ('json' in content ? 'application/json' : content.type);

const PROGRAMS: Readonly<Record<'curl' | 'TypeScript' | 'Python', Writer>> = {
  curl: (url, content) =>
    [
      `curl ${shellText(url)} \\`,
      `  -H ${shellText(`Content-Type: ${typeOf(content)}`)} \\`,
      '  -H "X-API-Key: $GANNET_KEY" \\',
      'json' in content
        ? `  -d ${shellText(JSON.stringify(content.json))}`
        : `  --data-binary ${shellText(`@${content.file}`)}`,
    ].join('\n'),
  TypeScript: (url, content) =>
    [
      ...('json' in content ? [] : ["import { readFile } from 'node:fs/promises';", '']),
      `const response = await fetch(${JSON.stringify(url)}, {`,
      "  method: 'POST',",
      `  headers: { 'Content-Type': '${typeOf(content)}', 'X-API-Key': process.env.GANNET_KEY ?? '' },`,
      'json' in content
        ? `  body: JSON.stringify(${JSON.stringify(content.json)}),`
        : `  body: await readFile(${JSON.stringify(content.file)}),`,
      '});',
      'const { total_count, results } = await response.json();',
    ].join('\n'),
  Python: (url, content) =>
    [
      'import json, os, urllib.request',
      '',
      'request = urllib.request.Request(',
      `    ${pythonText(url)},`,
      'json' in content
        ? `    data=json.dumps(json.loads(${pythonText(JSON.stringify(content.json))})).encode(),`
        : `    data=open(${pythonText(content.file)}, "rb").read(),`,
      `    headers={"Content-Type": "${typeOf(content)}", "X-API-Key": os.environ["GANNET_KEY"]},`,
      ')',
      'answer = json.load(urllib.request.urlopen(request))',
    ].join('\n'),
};

/** Quotes a text for a shell: within single quotes only the quote itself is special. */
function shellText(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

/** A JSON string is also a valid Python string. */
function pythonText(value: string): string {
  return JSON.stringify(value);
}
