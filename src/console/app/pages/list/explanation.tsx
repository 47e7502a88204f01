import { Code, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { text } from '../../messages/index.js';

/** Parts of an explanation that are drawn; unknown members are listed as figures. */
interface Explained {
  readonly groups?: readonly ExplainedWord[];
  readonly nearby?: readonly { readonly terms: readonly string[]; readonly contribution: number }[];
  readonly whole_field?: { readonly contribution: number };
  readonly sources?: readonly ExplainedSource[];
  readonly meaning?: { readonly like?: readonly string[] };
  readonly resources?: readonly {
    readonly field: string;
    readonly state: keyof typeof text.documents.states;
    readonly error?: keyof typeof text.documents.faults;
  }[];
  readonly reranker?: { readonly place_before?: number };
}
interface ExplainedWord {
  readonly word?: string;
  readonly contribution: number;
  readonly terms: readonly { readonly term: string; readonly kind?: string }[];
}
interface ExplainedSource {
  readonly kind: string;
  readonly score: number;
  readonly weight?: number;
  readonly cosine?: number;
  readonly page?: number;
  readonly groups?: readonly ExplainedWord[];
}

interface ExplanationProps {
  readonly explain: unknown;
}

/** How a score came about: the share of each word and each kind of score, and all figures. */
export function Explanation({ explain }: ExplanationProps) {
  const explained = (explain ?? {}) as Explained;
  return (
    <details>
      <summary>{text.search.why}</summary>
      <Stack gap="xs" mt="xs">
        <Words {...explained} />
        <Sources {...explained} />
        <Others {...explained} />
        <details>
          <summary>{text.explain.all}</summary>
          <Node value={explain} />
        </details>
      </Stack>
    </details>
  );
}

function Words({ groups = [], nearby = [], whole_field }: Explained) {
  if (groups.length === 0) return null;
  return (
    <Drawing label={text.explain.words}>
      {groups.map((group, index) => (
        <WordShare key={index} group={group} />
      ))}
      {nearby.map(({ terms, contribution }) => (
        <Share key={terms.join(' ')} share={contribution} label={text.explain.nearby(terms.join(' … '))} />
      ))}
      {whole_field === undefined ? null : <Share share={whole_field.contribution} label={text.explain.whole} />}
    </Drawing>
  );
}

function WordShare({ group: { word, terms, contribution } }: { readonly group: ExplainedWord }) {
  const met = terms.map(({ term, kind = 'typed' }) => ({ term, how: text.explain.kinds[kind] ?? kind }));
  const isAsTyped = met.length === 1 && met[0]?.term === word;
  return (
    <Share
      share={contribution}
      label={
        <>
          <b>{word ?? met[0]?.term}</b>
          {isAsTyped ? null : ` ${text.explain.as(met.map(({ term, how }) => `${term} (${how})`).join(', '))}`}
        </>
      }
    />
  );
}

function Sources({ sources = [] }: Explained) {
  if (sources.length === 0) return null;
  return (
    <Drawing label={text.explain.sources}>
      {sources.map(({ kind, score, weight, cosine, page, groups = [] }, index) => (
        <Share
          key={index}
          share={score}
          label={[
            kindName(kind),
            weight === undefined ? undefined : text.explain.weight(digits(weight)),
            cosine === undefined ? undefined : text.explain.cosine(digits(cosine)),
            page === undefined ? undefined : text.common.page(page),
            ...groups.map(({ word }) => word),
          ]
            .filter((part) => part !== undefined)
            .join(' · ')}
        />
      ))}
    </Drawing>
  );
}

const kindName = (kind: string): string => text.explain.sourceKinds[kind] ?? kind;

function Others({ meaning, resources = [], reranker }: Explained) {
  const lines = [
    ...(meaning?.like === undefined || meaning.like.length === 0 ? [] : [text.explain.like(meaning.like.join(', '))]),
    ...resources.map(({ field, state, error }) =>
      text.explain.resource(field, error === undefined ? text.documents.states[state] : text.documents.faults[error]),
    ),
    ...(reranker?.place_before === undefined ? [] : [text.explain.before(reranker.place_before + 1)]),
  ];
  return lines.map((line) => (
    <Text key={line} size="sm" style={{ overflowWrap: 'anywhere' }}>
      {line}
    </Text>
  ));
}

function Drawing({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {label}
      </Text>
      <ul className="shares" aria-label={label}>
        {children}
      </ul>
    </div>
  );
}

/** A bar whose length is the share, with its figure. */
function Share({ share, label }: { readonly share: number; readonly label: ReactNode }) {
  return (
    <li>
      <span className="track" aria-hidden>
        <span className="bar" style={{ width: `${Math.min(100, Math.max(2, 100 * share))}%` }} />
      </span>
      <Text span size="sm" className="figure">
        {digits(share)}
      </Text>
      <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
        {label}
      </Text>
    </li>
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
          </Text>{' '}
          <Node value={member} />
        </li>
      ))}
    </ul>
  );
}

const digits = (value: number): string => value.toFixed(3);

function rounded(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(4);
}
