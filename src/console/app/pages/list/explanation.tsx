import { Code, Text } from '@mantine/core';
import { text } from '../../messages/index.js';

/** How a score came about, unfolded as far as somebody wants to see it. */
export function Explanation({ explain }: { readonly explain: unknown }) {
  return (
    <details>
      <summary>{text.search.why}</summary>
      <Node value={explain} />
    </details>
  );
}

function Node({ value }: { readonly value: unknown }) {
  if (typeof value !== 'object' || value === null)
    return <Code>{typeof value === 'number' ? rounded(value) : String(value)}</Code>;
  return (
    <ul style={{ margin: 0, paddingInlineStart: 20 }}>
      {Object.entries<unknown>({ ...value }).map(([name, member]) => (
        <li key={name}>
          <Text span size="sm">
            {name.replaceAll('_', ' ')}
          </Text>
          {isShare(member) ? <Bar share={member} /> : null} <Node value={member} />
        </li>
      ))}
    </ul>
  );
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < 1;
}

const BAR_PIXELS = 80;

function Bar({ share }: { readonly share: number }) {
  return <span className="bar" aria-hidden style={{ width: Math.max(2, share * BAR_PIXELS), marginInlineStart: 8 }} />;
}

function rounded(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(4);
}
