/** Schema of a search's answer, for the OpenAPI document. Search workers write answers as finished bytes. */
import { Type } from 'typebox';
import { recordResource, recordSource } from './record-schemas.js';
import { nullable, named, object, oneOf, timeSchema } from './schemas.js';

const { id, name, fields } = recordResource.properties;
const score = (kind: string) => Type.Number({ minimum: 0, maximum: 1, description: `${kind}; 1 is perfect` });
const attachedScore = (kind: string) => Type.Optional(score(`Score of an attached ${kind}, where one took part`));
const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()], { description: 'The value' });
const bound = (description: string) => Type.Optional(Type.Union([Type.Number(), Type.String()], { description }));

const result = named(
  'Hit',
  {
    id,
    name,
    '@text_score': Type.Optional(score('Score by words and meaning, from 0 to 1; absent if neither played a part')),
    '@image_score': attachedScore('image'),
    '@document_score': attachedScore('document'),
    '@video_score': attachedScore('video'),
    '@audio_score': attachedScore('audio file'),
    as_of: Type.Optional(timeSchema('Time at which the record was last written, or synced from its source')),
    source: Type.Optional(recordSource),
    distance: Type.Optional(
      Type.Number({ minimum: 0, description: 'Distance from the centre in metres; only with `radius`' }),
    ),
    location: Type.Optional(
      object(
        { latitude: Type.Number({ description: 'In degrees' }), longitude: Type.Number({ description: 'In degrees' }) },
        { description: 'Location of the record; only with `radius`' },
      ),
    ),
    fields,
    fields_left_out: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Names of the fields that were left out because of `fields_bytes_max`',
      }),
    ),
    highlights: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'The best passage of each field that matched, by field name: HTML-escaped, with the found words in `<em>`',
      }),
    ),
    document: Type.Optional(
      object(
        {
          field: Type.String({ description: 'Name of the resource field that links to the file' }),
          url: Type.String({ description: 'URL of the document' }),
          page: Type.Integer({ minimum: 1, description: 'Number of the page that matched best' }),
          page_count: Type.Integer({ minimum: 0, description: 'Number of pages of the document' }),
          highlight: Type.Optional(
            Type.String({
              description: 'The best passage of the page: HTML-escaped, with the found words in `<em>`',
            }),
          ),
          error: Type.Optional(
            Type.String({
              description: 'Present if the text of the page is damaged on disk, so that no words are marked',
            }),
          ),
        },
        { description: 'The linked document that matched; with `@document_score`' },
      ),
    ),
    media: Type.Optional(
      object(
        {
          field: Type.String({ description: 'Name of the resource field that links to the file' }),
          url: Type.String({ description: 'URL of the recording' }),
          seconds: Type.Number({
            minimum: 0,
            description:
              'Where in the recording the match is, in seconds from its beginning: where the words are spoken, or where the chapter begins. 0 for a match in what describes the whole recording, such as its tags',
          }),
          highlight: Type.Optional(
            Type.String({
              description: 'The best passage: HTML-escaped, with the found words in `<em>`',
            }),
          ),
        },
        {
          description:
            'The linked video or audio file that matched, with `@video_score` or `@audio_score`; if both matched, the one with the higher score',
        },
      ),
    ),
    list_name: Type.Optional(Type.String({ description: 'Name of the list of the hit; only in a group search' })),
    error: Type.Optional(
      Type.String({
        description:
          'Present if the record is damaged on disk: why it is not returned. The hit then has the id of the record as its name, and no fields; if the id cannot be read, it is all zeros',
      }),
    ),
    distinct_count: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Number of records that were found with the same value of the facet `distinct`, this one included; 1 without a value. Only with `distinct`',
      }),
    ),
    explain: Type.Optional(
      Type.Unknown({
        description: 'Explanation of the scores, for people: its shape may change. Only with `explain=true`',
      }),
    ),
  },
  { description: 'A record that a search found, with its scores' },
);

const appliedWord = {
  word: Type.String({ description: 'Word or phrase of the query' }),
  terms: Type.Array(Type.String(), {
    description: 'What was searched for, too; for spellings, the most plausible first',
  }),
};
const appliedList = {
  list_name: Type.Optional(Type.String({ description: 'Name of the list; only in a group search' })),
};

export const searchResponse = named(
  'SearchAnswer',
  {
    query_id: Type.String({ format: 'uuid', description: 'Id of this search, for recording clicks' }),
    list_name: Type.Optional(Type.String({ description: 'Name of the list; only in a search of one list' })),
    group_name: Type.Optional(Type.String({ description: 'Name of the group; only in a group search' })),
    version: Type.Integer({ minimum: 1, description: 'Number of the version that was searched' }),
    total_count: Type.Integer({ minimum: 0, description: 'Exact number of all hits' }),
    results: Type.Array(result, { description: 'The hits of this page, best first or in the order asked for' }),
    facets: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Array(
          object({
            value: scalar,
            count: Type.Integer({
              minimum: 1,
              description:
                'Number of hits that have the value; with `distinct`, one for each of its values among the records found',
            }),
          }),
        ),
        {
          description: 'The most frequent values of each facet over all hits, by facet name; only with `facets`',
        },
      ),
    ),
    facet_ranges: Type.Optional(
      Type.Record(Type.String(), object({ min: bound('Smallest value'), max: bound('Largest value') }), {
        description:
          'Smallest and largest value over all hits of each counted facet of numbers or dates, by facet name',
      }),
    ),
    took_ms: Type.Number({ minimum: 0, description: 'Milliseconds that the search took inside the service' }),
    applied: object(
      {
        meaning: oneOf(['used', 'off', 'none', 'unavailable'], {
          description:
            'Whether the search was also by meaning. `used`: it was; `off`: it was turned off, or there was no text; `none`: no list has vectors to compare with; `unavailable`: a model returned no vector for the text in time, so that only words were searched',
        }),
        reranker: nullable(
          object({
            name: Type.String({ description: 'Name of the model' }),
            reordered: Type.Boolean({
              description:
                'Whether the reranker ordered the top results. False if it did not give a usable answer: the hits are in the order of their scores',
            }),
          }),
          { description: 'The reranker of the search. Null if none was to run' },
        ),
        query_rules: Type.Array(Type.String(), {
          description: 'Names of the query rules that turned a part of the text into a filter',
        }),
        synonyms: Type.Array(
          object({
            ...appliedWord,
            rules: Type.Array(Type.Integer({ minimum: 0 }), {
              description: 'Numbers of the synonym rules that apply, from 0',
            }),
            ...appliedList,
          }),
          { description: 'Words of the query for which synonyms were searched, too' },
        ),
        typos: Type.Array(object({ ...appliedWord, ...appliedList }), {
          description: 'Words of the query that were also searched in another spelling',
        }),
      },
      { description: 'What the service did to the query: rules, synonyms, spelling, meaning and reranking' },
    ),
  },
  { description: 'A page of hits, and counts over all hits' },
);
