/** Schema of a search's answer, for the OpenAPI document. Search workers write answers as finished bytes. */
import { Type } from 'typebox';
import { recordResource, recordSource } from './record-schemas.js';
import { nullable, named, object, oneOf, timeSchema } from './schemas.js';

const { id, name, fields } = recordResource.properties;
const score = (kind: string) => Type.Number({ minimum: 0, maximum: 1, description: `${kind}; 1 is perfect` });
const attachedScore = (kind: string) => Type.Optional(score(`Score of an attached ${kind}, where one took part`));
const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const text = Type.Optional(Type.Union([Type.Number(), Type.String()]));

const result = named('Hit', {
  id,
  name,
  '@text_score': Type.Optional(score('Words and meaning; absent where neither played a part')),
  '@image_score': attachedScore('image'),
  '@document_score': attachedScore('document'),
  '@video_score': attachedScore('video'),
  '@audio_score': attachedScore('audio file'),
  as_of: Type.Optional(timeSchema('When the record was last written or synced from its source')),
  source: Type.Optional(recordSource),
  distance: Type.Optional(Type.Number({ minimum: 0, description: 'Metres from the centre; on a radius search' })),
  location: Type.Optional(
    object({ latitude: Type.Number(), longitude: Type.Number() }, { description: 'On a radius search' }),
  ),
  fields,
  fields_left_out: Type.Optional(
    Type.Array(Type.String(), { description: 'Names of the fields that were more than `fields_bytes_max`' }),
  ),
  highlights: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'By field: the best passage, HTML-escaped, with the words that were found in <em>',
    }),
  ),
  document: Type.Optional(
    object(
      {
        field: Type.String({ description: 'The resource field that links to it' }),
        url: Type.String(),
        page: Type.Integer({ minimum: 1, description: 'The page that was found, the best one' }),
        page_count: Type.Integer({ minimum: 0, description: 'Pages of the document' }),
        highlight: Type.Optional(
          Type.String({
            description: 'The best passage of the page, HTML-escaped, with the words that were found in <em>',
          }),
        ),
        error: Type.Optional(
          Type.String({ description: 'The text of the page is damaged on disk: words of it are not marked' }),
        ),
      },
      { description: 'Where a document was found, with `@document_score`' },
    ),
  ),
  media: Type.Optional(
    object(
      {
        field: Type.String({ description: 'The resource field that links to it' }),
        url: Type.String(),
        seconds: Type.Number({
          minimum: 0,
          description:
            'From the beginning: where it is said, or where the chapter begins; 0 of what is said of the whole',
        }),
        highlight: Type.Optional(
          Type.String({
            description: 'The best passage, HTML-escaped, with the words that were found in <em>',
          }),
        ),
      },
      {
        description:
          'Where a video or an audio file was found, with `@video_score` or `@audio_score`; of both, the one with the higher score',
      },
    ),
  ),
  list_name: Type.Optional(Type.String({ description: 'The list of the hit; on a group search' })),
  error: Type.Optional(
    Type.String({
      description:
        'Of a record that is damaged on disk: why it is not told. It has its id as its name and no fields then; where that cannot be read, an id of zeros',
    }),
  ),
  explain: Type.Optional(Type.Unknown({ description: 'Explanation of the score; with the option explain' })),
});

const appliedWord = { word: Type.String(), terms: Type.Array(Type.String()) };
const appliedList = { list_name: Type.Optional(Type.String({ description: 'On a group search' })) };

export const searchResponse = named('SearchAnswer', {
  query_id: Type.String({ format: 'uuid', description: 'Names this search in click calls' }),
  list_name: Type.Optional(Type.String({ description: 'The list; on the search of one list' })),
  group_name: Type.Optional(Type.String({ description: 'The group; on a group search' })),
  version: Type.Integer({ minimum: 1, description: 'The version that was searched' }),
  total_count: Type.Integer({ minimum: 0, description: 'All hits, exactly' }),
  results: Type.Array(result, { description: 'The hits of this page, best first' }),
  facets: Type.Optional(
    Type.Record(Type.String(), Type.Array(object({ value: scalar, count: Type.Integer({ minimum: 1 }) })), {
      description: 'By facet: the most frequent values over all hits; with the option facets',
    }),
  ),
  facet_ranges: Type.Optional(
    Type.Record(Type.String(), object({ min: text, max: text }), {
      description: 'By number or date facet that was counted',
    }),
  ),
  took_ms: Type.Number({ minimum: 0, description: 'Milliseconds inside the search worker' }),
  applied: object(
    {
      meaning: oneOf(['used', 'off', 'none', 'unavailable'], {
        description:
          'Whether the search looked for meaning beside words. `off`: it was not to, or there was no text; `none`: no list has vectors to compare with; `unavailable`: a model gave no vector of the text in time, and words were alone',
      }),
      reranker: nullable(
        object({
          name: Type.String({ description: 'The model' }),
          reordered: Type.Boolean({
            description: 'False if it did not answer as it should: the order is that of the scores',
          }),
        }),
        { description: 'Null if no reranker was to run' },
      ),
      query_rules: Type.Array(Type.String(), { description: 'Names of the rules that turned a part into a filter' }),
      synonyms: Type.Array(
        object({ ...appliedWord, rules: Type.Array(Type.Integer({ minimum: 0 })), ...appliedList }),
        { description: 'Words for which synonyms were searched too, and the numbers of their rules, from 0' },
      ),
      typos: Type.Array(object({ ...appliedWord, ...appliedList }), {
        description: 'Words that were taken for others too, the most plausible first',
      }),
    },
    { description: 'What the service did to the query' },
  ),
});
