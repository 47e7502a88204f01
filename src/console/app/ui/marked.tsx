/** Passages marked by the service: escaped text with `<em>` around matches. They are parsed, never inserted as HTML. */
import { Fragment } from 'react';

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

export function Marked({ passage }: { readonly passage: string }) {
  return partsOf(passage).map(({ text, isFound }, index) =>
    isFound ? (
      <em key={index} className="found">
        {text}
      </em>
    ) : (
      <Fragment key={index}>{text}</Fragment>
    ),
  );
}

export function partsOf(passage: string): { readonly text: string; readonly isFound: boolean }[] {
  return passage
    .split(/<em>([\s\S]*?)<\/em>/)
    .map((text, index) => ({ text: unescaped(text), isFound: index % 2 === 1 }))
    .filter(({ text }) => text !== '');
}

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|#x27);/g, (_, name: string) => ENTITIES[name] ?? '');
}
