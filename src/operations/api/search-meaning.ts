/**
 * Finds the vector of a search for its lists that have vectors: the one the caller sent, or that of its text, made once
 * for all lists that share a model. If a model returns none in time, the search goes on without it. Main thread only.
 */
import type { FieldDefinition, ListRecord } from '../../catalog/index.js';
import type { GenerationSettings } from '../../index/index.js';
import { ServiceError } from '../../platform/index.js';
import {
  applyQueryRules,
  isNarrowedToFields,
  usableQueryRules,
  type AppliedMeaning,
  type QueryRule,
  type SearchOptions,
  type SearchPictures,
  type SearchTarget,
} from '../../search/index.js';
import { BUILT_IN_MODEL, ModelError } from '../../vectors/index.js';
import type { Services } from '../dispatch/services.js';
import type { PictureTarget, SearchTargets } from './search-targets.js';

export interface SearchWithMeaning {
  readonly targets: readonly SearchTarget[];
  readonly meaning: AppliedMeaning;
  /** False if the same search may find more at another time. */
  readonly isComplete: boolean;
}

type Meaning = SearchTarget['meaning'];
type Outcome = Meaning | AppliedMeaning;
type SearchedBy = NonNullable<GenerationSettings['meaning']>;

/**
 * Returns synchronously if no list has a model, so that such a search does not wait. Rejects with `invalid-parameter`
 * for a vector that no list takes.
 */
export function withMeaning(
  services: Services,
  found: SearchTargets,
  options: SearchOptions,
): SearchWithMeaning | Promise<SearchWithMeaning> {
  const { targets, lists, searchedBy, pictures } = found;
  const hasNoVectors = lists.every(
    ({ model }, index) => model === null && !searchedBy[index] && !mayReadWords(pictures[index]),
  );
  if (options.vector === undefined && hasNoVectors) return { targets, meaning: 'none', isComplete: true };
  return withVectors(services, found, options);
}

function withVectors(
  services: Services,
  found: SearchTargets,
  options: SearchOptions,
): SearchWithMeaning | Promise<SearchWithMeaning> {
  const { lists, definitions, searchedBy, pictures } = found;
  const isWanted = options.vector_search !== false && options.match !== 'phrase' && !isNarrowedToFields(options);
  const given = givenVector(services, lists, options, searchedBy);
  const outcomes = lists.map((list, index): OutcomesOfList | Promise<OutcomesOfList> => {
    const text = isWanted ? textOf(list, definitions[index] as FieldDefinition, options.query ?? '') : '';
    const ofRecords = (): Outcome | Promise<Outcome> => {
      const by = searchedBy[index];
      if (by === undefined) return withoutVectors(services, list);
      if (!isWanted) return 'off';
      if (by.source === 'own') return given?.length === by.dimensions ? vectorOf(by, given) : 'none';
      return text === '' ? 'off' : meaningOf(services, list, by, text);
    };
    const meaning = ofRecords();
    const seen = picturesOf(services, list, pictures[index], options.match === 'all' ? '' : text);
    if (meaning instanceof Promise || seen instanceof Promise) {
      return Promise.all([meaning, seen]).then((both) => ({ meaning: both[0], pictures: both[1] }));
    }
    return { meaning, pictures: seen };
  });
  // A vector sent with the search is available at once.
  const known = outcomes.filter((outcome): outcome is OutcomesOfList => !(outcome instanceof Promise));
  const isOfVector = isWanted && given !== undefined;
  if (known.length === outcomes.length) return withOutcomes(found, known, isOfVector);
  return Promise.all(outcomes.map((outcome) => Promise.resolve(outcome))).then((all) =>
    withOutcomes(found, all, isOfVector),
  );
}

function withOutcomes(
  { targets }: SearchTargets,
  outcomes: readonly OutcomesOfList[],
  isOfVector: boolean,
): SearchWithMeaning {
  const states = new Set(outcomes.flatMap((each) => [stateOf(each.meaning), stateOf(each.pictures)]));
  return {
    targets: targets.map((target, index) => {
      const { meaning, pictures: seen } = outcomes[index] as OutcomesOfList;
      return {
        ...target,
        ...(typeof meaning === 'object' ? { meaning } : {}),
        ...(isOfVector ? { isOfVector } : {}),
        ...(typeof seen === 'object' ? { pictures: seen } : {}),
      };
    }),
    meaning: (['used', 'unavailable', 'off'] as const).find((state) => states.has(state)) ?? 'none',
    isComplete: !states.has('unavailable'),
  };
}

/** True if a list's pictures may be found by words: the built-in descriptor reads no texts. */
function mayReadWords(pictures: PictureTarget): boolean {
  return pictures !== undefined && pictures.by.model !== BUILT_IN_MODEL;
}

interface OutcomesOfList {
  readonly meaning: Outcome;
  readonly pictures: SearchPictures | AppliedMeaning;
}

function stateOf(outcome: Outcome | SearchPictures): AppliedMeaning {
  return typeof outcome === 'object' ? 'used' : (outcome ?? 'none');
}

/** Returns the text's vector for the model of a list's pictures, if that reads texts. */
function picturesOf(
  services: Services,
  list: ListRecord,
  pictures: PictureTarget,
  text: string,
): SearchPictures | AppliedMeaning | Promise<SearchPictures | AppliedMeaning> {
  return pictures === undefined ? 'none' : readBy(services, list, pictures, text);
}

async function readBy(
  { indexes }: Services,
  { account }: ListRecord,
  { by, generation }: NonNullable<PictureTarget>,
  text: string,
): Promise<SearchPictures | AppliedMeaning> {
  const { models } = indexes;
  const model = models.pictures(account, by.model);
  if (model?.words === undefined) return 'none';
  if (text === '') return 'off';
  if (model.version !== by.modelVersion) return 'unavailable';
  const { embedder, random } = model.words;
  try {
    const vector = await models.embedQuery(embedder, text);
    return vector.length === by.dimensions ? { generation, vector, random } : 'unavailable';
  } catch (error) {
    if (error instanceof ModelError) return 'unavailable';
    throw error;
  }
}

function vectorOf({ modelVersion }: SearchedBy, vector: Float32Array): Meaning {
  return { modelVersion, vector };
}

/** Throws `invalid-parameter`. */
function givenVector(
  services: Services,
  lists: readonly ListRecord[],
  { vector }: SearchOptions,
  searchedBy: SearchTargets['searchedBy'],
): Float32Array | undefined {
  if (vector === undefined) return undefined;
  const taken = [...new Set(searchedBy.flatMap((by) => (by?.source === 'own' ? [by.dimensions] : [])))];
  // A list whose records have no vectors yet takes a vector of any length, and finds nothing with it.
  if (taken.length === 0 && !lists.some((list) => takesVectors(services, list))) {
    throw invalidVector("No list of this search takes a vector: none has the model 'own', or one of that provider.");
  }
  if (taken.length > 0 && !taken.includes(vector.length)) {
    throw invalidVector(`A vector has ${taken.join(' or ')} numbers here, not ${vector.length}.`);
  }
  const values = Float32Array.from(vector);
  let square = 0;
  for (const value of values) square += value * value;
  if (Number.isFinite(square) && square > 0) return values;
  throw invalidVector('A vector has numbers of 32 bits that are not all zeros.');
}

/**
 * Returns why a list has no vectors: `unavailable` if its model has yet to make them, `none` if they come with the
 * records or are learned from them.
 */
function withoutVectors({ indexes }: Services, { account, id, model }: ListRecord): AppliedMeaning {
  const source = model === null ? undefined : indexes.models.attached({ account, id, model })?.source;
  return source === 'embedder' || source === 'unavailable' ? 'unavailable' : 'none';
}

function takesVectors({ indexes }: Services, { account, id, model }: ListRecord): boolean {
  return model !== null && indexes.models.attached({ account, id, model })?.source === 'own';
}

function invalidVector(detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ parameter: 'vector', detail }] });
}

/** Compiled rules by definition. A list gets a new definition object whenever its rules may change their meaning. */
const compiled = new WeakMap<
  FieldDefinition,
  { rules: readonly unknown[]; usable: ReturnType<typeof usableQueryRules> }
>();

/** Returns what the list's query rules leave of the search text. */
function textOf({ query_rules: rules }: ListRecord, definition: FieldDefinition, query: string): string {
  const text = query.trim();
  if (rules.length === 0 || text === '') return text;
  let known = compiled.get(definition);
  if (known?.rules !== rules) {
    known = { rules, usable: usableQueryRules(rules as readonly QueryRule[], definition) };
    compiled.set(definition, known);
  }
  return applyQueryRules(known.usable, text).query;
}

/** Makes the vector, once for all lists of the search that share the model. */
async function meaningOf(
  { indexes }: Services,
  { account, id }: ListRecord,
  by: SearchedBy,
  text: string,
): Promise<Outcome> {
  // The search thread derives the vector from the records that the words find.
  if (by.model === BUILT_IN_MODEL) return { modelVersion: by.modelVersion };
  const { models } = indexes;
  const attached = models.attached({ account, id, model: by.model });
  if (attached?.source !== 'embedder' || attached.embedder.version !== by.modelVersion) return 'unavailable';
  try {
    const vector = await models.embedQuery(attached.embedder, text);
    return { modelVersion: by.modelVersion, vector, isOfText: true };
  } catch (error) {
    if (error instanceof ModelError) return 'unavailable';
    throw error;
  }
}
