/** Extends the operations on lists with what features add: their schemas, and their handling. */
import { isDeepStrictEqual } from 'node:util';
import { Type, type TObject, type TProperties, type TSchema } from 'typebox';
import type { ListRecord } from '../../catalog/index.js';
import type { ListExtension, ListMember, ListSetting } from '../dispatch/list-extension.js';
import type { Operation, ResponseSpec } from '../dispatch/operation.js';
import { isStreamBody } from '../dispatch/validation.js';
import type { Services } from '../dispatch/services.js';
import { LIST, LISTED, listedList, listResource } from './list-schemas.js';
import { named, object } from './schemas.js';

type Members = Readonly<Record<string, unknown>>;

interface Additions {
  readonly settings: Readonly<Record<string, ListSetting>>;
  readonly members: Readonly<Record<string, ListMember>>;
}

/**
 * Extends the operations that take or return lists; others stay unchanged. Throws if two features add the same name.
 */
export function withListExtensions(
  operations: readonly Operation[],
  extensions: readonly ListExtension[],
): readonly Operation[] {
  if (extensions.length === 0) return operations;
  const additions: Additions = {
    settings: together(extensions.map(({ settings = {} }) => settings)),
    members: together(extensions.map(({ members = {} }) => members)),
  };
  const added = { ...additions.settings, ...additions.members };
  for (const name of Object.keys(added)) {
    const isTwice = name in additions.settings && name in additions.members;
    if (isTwice || name in listResource.properties) throw new Error(`two bring the member '${name}' of lists`);
  }
  const optional = { ...asOptional(additions.settings), ...asOptional(additions.members) };
  const resources = {
    one: named('List', { ...listResource.properties, ...optional }, LIST),
    listed: named('ListedList', { ...listedList.properties, ...optional }, LISTED),
  };
  return operations.map((operation) =>
    answersLists(operation) ? extended(operation, additions, resources) : operation,
  );
}

function together<Value>(each: readonly Readonly<Record<string, Value>>[]): Readonly<Record<string, Value>> {
  const all: Record<string, Value> = {};
  for (const [name, value] of each.flatMap((one) => Object.entries(one))) {
    if (Object.hasOwn(all, name)) throw new Error(`two features bring the member '${name}' of lists`);
    all[name] = value;
  }
  return all;
}

function asOptional(members: Readonly<Record<string, { readonly schema: TSchema }>>): TProperties {
  return Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, Type.Optional(schema)]));
}

function answersLists({ responses }: Operation): boolean {
  return Object.values(responses).some(({ schema }) => schema === listResource || isListing(schema));
}

function isListing(schema: TSchema | null): schema is TObject {
  const { properties } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly items?: unknown }>>;
  };
  return properties?.['lists']?.items === listedList;
}

interface Resources {
  readonly one: TObject;
  /** As an element of a listing. */
  readonly listed: TObject;
}

function extended(operation: Operation, additions: Additions, resources: Resources): Operation {
  const { body, responses, handle, method } = operation;
  const takesSettings = body !== undefined && !isStreamBody(body) && 'language' in (body as TObject).properties;
  const readOnly = method === 'PUT' ? asOptional(additions.members) : {};
  const members = takesSettings
    ? object({ ...(body as TObject).properties, ...asOptional(additions.settings), ...readOnly })
    : undefined;
  return {
    ...operation,
    ...(members === undefined ? {} : { body: members }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, withResource(response, resources)]),
    ),
    handle: async (context, input) => {
      const { services } = context;
      const { account = '', list } = input.params as Readonly<Record<string, string | undefined>>;
      const stored = list === undefined ? undefined : services.catalog.list(account, list);
      const given = takesSettings
        ? split(services, account, { body: input.body as Members, stored, additions })
        : input.body;
      // In listings, additions are made while a page is put together, since its length depends on them.
      const addedToList = (each: ListRecord) => additionsTo(services, each, additions);
      const result = await handle({ ...context, addedToList }, { ...input, body: given });
      const body = result.body as Members;
      const record = 'lists' in body ? undefined : services.catalog.list(account, body['name'] as string);
      // A list that has just been deleted gets no additions.
      return record === undefined ? result : { ...result, body: { ...body, ...(await addedToList(record)) } };
    },
  };
}

function withResource(response: ResponseSpec, { one, listed }: Resources): ResponseSpec {
  const { schema } = response;
  if (schema === listResource) return { ...response, schema: one };
  if (!isListing(schema)) return response;
  return {
    ...response,
    schema: object({ ...schema.properties, lists: Type.Array(listed, { description: 'The lists' }) }),
  };
}

interface Given {
  readonly body: Members;
  readonly stored: ListRecord | undefined;
  readonly additions: Additions;
}

/** Moves the members that features add into `features`, merged with what the list has stored there. */
function split(services: Services, account: string, { body, stored, additions }: Given): Members {
  const own: Record<string, unknown> = {};
  const features: Record<string, unknown> = { ...stored?.features };
  let isGiven = false;
  for (const [name, value] of Object.entries(body)) {
    const setting = additions.settings[name];
    if (setting === undefined) {
      if (additions.members[name] === undefined) own[name] = value;
      continue;
    }
    // An unchanged value is accepted without a check, even if what it names is gone.
    if (!isDeepStrictEqual(value, features[name] ?? setting.initial)) setting.check?.(services, account, value);
    features[name] = value;
    isGiven = true;
  }
  return isGiven ? { ...own, features } : own;
}

async function additionsTo(services: Services, record: ListRecord, { settings, members }: Additions): Promise<Members> {
  const outline = services.indexes.outline(record.id);
  const added: Record<string, unknown> = {};
  for (const [name, { initial }] of Object.entries(settings)) added[name] = record.features?.[name] ?? initial;
  for (const [name, { read }] of Object.entries(members)) {
    const value: unknown = await read(services, record, outline);
    if (value !== undefined) added[name] = value;
  }
  return added;
}
