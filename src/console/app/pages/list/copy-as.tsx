import { Button, Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { text } from '../../messages/index.js';

interface CopyAsProps {
  /** Of the search. */
  readonly path: string;
  readonly body: object;
}

/** The search of the page as a program would make it. */
export function CopyAs({ path, body }: CopyAsProps) {
  const clipboard = useClipboard();
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default">{clipboard.copied ? text.common.copied : text.search.copyAs}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(['curl', 'TypeScript', 'Python'] as const).map((language) => (
          <Menu.Item
            key={language}
            onClick={() => {
              clipboard.copy(PROGRAMS[language](`${location.origin}${path}`, body));
            }}
          >
            {language}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

type Writer = (url: string, body: object) => string;

export const PROGRAMS: Readonly<Record<'curl' | 'TypeScript' | 'Python', Writer>> = {
  curl: (url, body) =>
    [
      `curl ${shellText(url)} \\`,
      "  -H 'Content-Type: application/json' \\",
      '  -H "X-API-Key: $GANNET_KEY" \\',
      `  -d ${shellText(JSON.stringify(body))}`,
    ].join('\n'),
  TypeScript: (url, body) =>
    [
      `const response = await fetch(${JSON.stringify(url)}, {`,
      "  method: 'POST',",
      "  headers: { 'Content-Type': 'application/json', 'X-API-Key': process.env.GANNET_KEY ?? '' },",
      `  body: JSON.stringify(${JSON.stringify(body)}),`,
      '});',
      'const { total_count, results } = await response.json();',
    ].join('\n'),
  Python: (url, body) =>
    [
      'import json, os, urllib.request',
      '',
      'request = urllib.request.Request(',
      `    ${JSON.stringify(url)},`,
      `    data=json.dumps(json.loads(${pythonText(JSON.stringify(body))})).encode(),`,
      '    headers={"Content-Type": "application/json", "X-API-Key": os.environ["GANNET_KEY"]},',
      ')',
      'answer = json.load(urllib.request.urlopen(request))',
    ].join('\n'),
};

/** Between single quotes, within which nothing has a meaning but the quote. */
function shellText(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

/** A JSON text is a text of Python, too. */
function pythonText(value: string): string {
  return JSON.stringify(value);
}
