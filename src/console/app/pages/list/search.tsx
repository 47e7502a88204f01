import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { text } from '../../messages/index.js';
import type { SearchState } from '../../page-state.js';
import type { SearchListOutput } from '../../service/client.js';
import { count } from '../../ui/format.js';
import { Problem } from '../../ui/problem.js';
import { Comparison } from './comparison.js';
import { CopyAs } from './copy-as.js';
import { FacetCounts } from './facet-counts.js';
import { Hit, type HitPictures } from './hit.js';
import { HitPages } from './hit-pages.js';
import { useList, useListParams } from './list-frame.js';
import { NothingFound } from './nothing-found.js';
import { linkIn, PICTURE, pictureContent, type Picture } from '../search/picture.js';
import { pictureFieldsOf, PictureSearch } from '../search/picture-search.js';
import { bodyOf, changed, comparedOptions, comparing, sizeOf } from './search-body.js';
import { FoldedOptions } from './search-options.js';
import { useFound } from './use-found.js';

/** Delay after typing: one search per key would be too many. */
const TYPING_MS = 150;

/** All options of a search as controls, with its results. */
export function ListSearch() {
  const list = useList();
  const params = useListParams();
  const options = useSearch({ from: '/$account/list/$list/search' });
  const [file, setFile] = useState<File>();
  const navigate = useNavigate();
  const set = (change: SearchState): void => {
    const search = changed(options, { ...('skip' in change ? {} : { skip: undefined }), ...change });
    void navigate({ to: '/$account/list/$list/search', params, search, replace: true });
  };
  const searchBy = (picture: Picture | undefined): void => {
    setFile(picture instanceof File ? picture : undefined);
    set({ [PICTURE]: typeof picture === 'string' ? picture : undefined });
  };
  const picture = file ?? linkIn(options);
  const place = `${params.account}/${params.list}/${list.current_version}`;
  const compared = picture === undefined ? comparedOptions(options) : undefined;
  return (
    <Stack>
      {picture === undefined ? (
        <Group align="flex-end" gap="sm">
          <QueryBox
            value={textOf(options['query'])}
            onChange={(query) => {
              set({ query });
            }}
          />
          {compared === undefined ? (
            <Button
              variant="default"
              onClick={() => {
                set(comparing(options));
              }}
            >
              {text.compare.begin}
            </Button>
          ) : null}
          <CopyAs path={`/search/${place}`} content={{ json: bodyOf(options) }} />
        </Group>
      ) : null}
      {compared === undefined ? (
        <PictureSearch
          picture={picture}
          list={list}
          onPicture={searchBy}
          actions={
            picture === undefined ? null : (
              <CopyAs {...pictureContent(`/search/image/${place}`, picture, bodyOf(options))} />
            )
          }
        />
      ) : null}
      {compared === undefined ? (
        <Preview picture={picture} options={options} onChange={set} onLike={searchBy} />
      ) : (
        <Comparison
          first={options}
          second={compared}
          onFirst={set}
          onSecond={(change) => {
            set(comparing(changed(compared, change)));
          }}
          onEnd={() => {
            set(comparing(undefined));
          }}
        />
      )}
    </Stack>
  );
}

interface PreviewProps {
  readonly picture: Picture | undefined;
  readonly options: SearchState;
  readonly onChange: (change: SearchState) => void;
  readonly onLike: (link: string) => void;
}

function Preview({ picture, options, onChange, onLike }: PreviewProps) {
  const list = useList();
  const found = useFound(options, picture);
  return (
    <div className="preview">
      <FoldedOptions list={list} options={options} picture={picture} onChange={onChange} />
      <Stack>
        <Problem error={found.error} onRetry={() => void found.refetch()} />
        {found.data === undefined || found.isError ? null : (
          <Found
            found={found.data}
            options={options}
            onChange={onChange}
            pictures={{ fields: pictureFieldsOf(list), onLike }}
          />
        )}
      </Stack>
    </div>
  );
}

function textOf(value: SearchState[string]): string {
  return value === undefined ? '' : String(value);
}

interface QueryBoxProps {
  readonly value: string;
  readonly onChange: (query: string) => void;
}

function QueryBox({ value, onChange }: QueryBoxProps) {
  const [entry, setEntry] = useState(value);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    box.current?.focus();
  }, []);
  // The address changed by a link or by going back.
  useEffect(() => {
    if (document.activeElement !== box.current) setEntry(value);
  }, [value]);
  useEffect(() => {
    if (entry === value) return;
    const timer = setTimeout(() => {
      onChange(entry);
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
    };
  });
  return (
    <TextInput
      ref={box}
      type="search"
      label={text.search.query}
      placeholder={text.search.queryHint}
      style={{ flex: 1, minWidth: 240 }}
      value={entry}
      onChange={(event) => {
        setEntry(event.currentTarget.value);
      }}
    />
  );
}

interface FoundProps {
  readonly found: SearchListOutput;
  readonly options: SearchState;
  readonly onChange: (change: SearchState) => void;
  readonly pictures: HitPictures;
}

function Found({ found, options, onChange, pictures }: FoundProps) {
  const place = useListParams();
  const { total_count, took_ms, results, applied, facets } = found;
  return (
    <>
      <Text role="status" size="sm" c="dimmed">
        {text.search.found(count(total_count), took_ms.toFixed(1))}
      </Text>
      <Applied applied={applied} />
      {facets === undefined ? null : (
        <FacetCounts
          facets={facets}
          filter={textOf(options['filter'])}
          onFilter={(filter) => {
            onChange({ filter });
          }}
        />
      )}
      <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} aria-label={text.search.hits}>
        {results.map((hit) => (
          <Hit key={hit.id} hit={hit} {...place} pictures={pictures} />
        ))}
      </Stack>
      {total_count === 0 ? <NothingFound options={options} onChange={onChange} /> : null}
      <HitPages
        total={total_count}
        size={sizeOf(options)}
        skip={Number(options['skip'] ?? 0)}
        onSkip={(skip) => {
          onChange({ skip });
        }}
      />
    </>
  );
}

/** What the service did to the words of the query. */
function Applied({ applied }: Pick<SearchListOutput, 'applied'>) {
  const lines = [
    ...applied.query_rules.map((rule) => text.search.byRule(rule)),
    ...applied.synonyms.map(({ word, terms }) => text.search.bySynonym(word, terms.join(', '))),
    ...applied.typos.map(({ word, terms }) => text.search.byTypo(word, terms.join(', '))),
  ];
  return lines.map((line) => (
    <Text key={line} size="sm">
      {line}
    </Text>
  ));
}
