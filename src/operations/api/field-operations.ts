/**
 * Operations on one field of a list, alike for facets, searchable fields and resources. Each is equivalent to a `PUT
 * /list/{account}/{list}`, except a rename, which moves the field with its values in all its roles.
 */
import { Type, type TObject } from 'typebox';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import { newestVersion, oneChangeAtATime, requireIndex, requireList } from '../dispatch/list-access.js';
import { changedDefinition, RECORD_NAME } from './list-definition.js';
import { defineOperation, type Operation } from '../dispatch/operation.js';
import { accountName, knownFieldName, listName, listParams, object } from './schemas.js';
import type { Services } from '../dispatch/services.js';

type FieldMember = 'facets' | 'searchable_fields' | 'resources';

export interface FieldKind {
  /** Name in the path and in permissions. */
  readonly resource: 'facet' | 'searchable-field' | 'resource';
  readonly member: FieldMember;
  /** In sentences: `a facet`. */
  readonly noun: string;
  readonly input: TObject;
  readonly output: TObject;
}

interface NamedField {
  readonly name: string;
}

const CALLERS = ['key', 'console', 'cli'] as const;

const COMMON = { callers: CALLERS, target: 'list' } as const;
const FIELD_PARAMS = object({ account: accountName, list: listName, name: knownFieldName });
const REBUILD = 'The next version of the list is built in the background, as with `PUT /list/{account}/{list}`.';

export function fieldOperations(kind: FieldKind): readonly Operation[] {
  return [...collectionOperations(kind), ...singleFieldOperations(kind)];
}

function collectionOperations({ resource, member, noun, input, output }: FieldKind): readonly Operation[] {
  const collectionPath = `/${resource}/{account}/{list}`;
  return [
    defineOperation({
      ...COMMON,
      name: `${resource}.list`,
      summary: `List the ${noun}s of a list`,
      method: 'GET',
      path: collectionPath,
      permission: `${resource}:read`,
      params: listParams,
      responses: {
        200: {
          description: 'The fields, in the order in which they are defined',
          schema: object({ [member]: Type.Array(output, { description: `The ${noun}s of the list` }) }),
        },
      },
      async handle({ services }, { params }) {
        const { definition } = newestVersion(await requireIndex(services, params));
        return { status: 200, body: { [member]: definition[member] } };
      },
    }),
    defineOperation({
      ...COMMON,
      name: `${resource}.create`,
      summary: `Add a ${noun}`,
      description: REBUILD,
      method: 'POST',
      path: collectionPath,
      permission: `${resource}:create`,
      params: listParams,
      body: input,
      responses: { 201: { description: `The ${noun}`, schema: output } },
      errors: ['name-exists', 'storage-full'],
      async handle({ services }, { params, body }) {
        const { name } = body as unknown as NamedField;
        const definition = await changeFields(services, params, (before) => {
          if (find(before, member, name) !== undefined) {
            throw new ServiceError('name-exists', `The list already has a ${noun} '${name}'.`);
          }
          return { definition: changed(before, member, [...before[member], body as unknown as NamedField]) };
        });
        return { status: 201, body: find(definition, member, name) };
      },
    }),
  ];
}

function singleFieldOperations(kind: FieldKind): readonly Operation[] {
  const { resource, member, noun, input, output } = kind;
  const fieldPath = `/${resource}/{account}/{list}/{name}`;
  return [
    defineOperation({
      ...COMMON,
      name: `${resource}.update`,
      summary: `Change or rename a ${noun}`,
      description: `Members that are not given keep their value. Another \`name\` renames the field in all its roles (facet, searchable field, resource field, location), together with its values in the records. If a record already has a value under the new name that belongs to no defined field, that value is overwritten. Query rules that name a facet keep the old name, and go on to apply to versions that have it; rules with the new name are accepted as soon as this call has answered. ${REBUILD}`,
      method: 'PUT',
      path: fieldPath,
      permission: `${resource}:update`,
      params: FIELD_PARAMS,
      body: Type.Partial(input, { additionalProperties: false }),
      responses: { 200: { description: `The ${noun}`, schema: output } },
      errors: ['field-not-found', 'name-exists', 'storage-full'],
      async handle({ services }, { params, body }) {
        const { name = params.name } = body as Partial<NamedField>;
        const definition = await changeFields(services, params, (before) =>
          updated(before, kind, params.name, { ...body, name }),
        );
        return { status: 200, body: find(definition, member, name) };
      },
    }),
    defineOperation({
      ...COMMON,
      name: `${resource}.delete`,
      summary: `Remove a ${noun}`,
      description: `The records keep their values. ${REBUILD}`,
      method: 'DELETE',
      path: fieldPath,
      permission: `${resource}:delete`,
      params: FIELD_PARAMS,
      responses: { 204: { description: `The ${noun} was removed`, schema: null } },
      errors: ['field-not-found', 'storage-full'],
      async handle({ services }, { params }) {
        await changeFields(services, params, (before) => {
          requireField(before, kind, params.name);
          const left = before[member].filter(({ name }) => name !== params.name);
          return { definition: changed(before, member, left) };
        });
        return { status: 204 };
      },
    }),
  ];
}

interface FieldChange {
  readonly definition: FieldDefinition;
  readonly renames?: Readonly<Record<string, string>>;
}

/** Applies a change to the list's newest definition. Resolves with the new one once its build is recorded. */
function changeFields(
  services: Services,
  { account, list }: { account: string; list: string },
  change: (before: FieldDefinition) => FieldChange,
): Promise<FieldDefinition> {
  return oneChangeAtATime(services, { account, name: list }, async () => {
    requireList(services, account, list);
    const index = await requireIndex(services, { account, list });
    const before = newestVersion(index).definition;
    const { definition, renames } = change(before);
    if (definition === before) return before;
    // The modification time comes first, since it need not be undone if the fields are refused.
    await services.catalog.updateList(account, list, {});
    await index.changeDefinition(definition, renames);
    await index.keepEntry();
    return definition;
  });
}

function updated(before: FieldDefinition, kind: FieldKind, oldName: string, change: NamedField): FieldChange {
  const field = requireField(before, kind, oldName);
  const { name } = change;
  const replace = (fields: readonly NamedField[]) =>
    fields.map((each) => (each === field ? { ...each, ...change, name: oldName } : each));
  const definition = changed(before, kind.member, replace(before[kind.member]));
  if (name === oldName) return { definition };
  if (name === RECORD_NAME || oldName === RECORD_NAME) throw recordNameKept();
  if (allNames(before).has(name)) {
    throw new ServiceError('name-exists', `The list already has a field '${name}'.`);
  }
  return { definition: renamed(definition, oldName, name), renames: { [oldName]: name } };
}

/** Checks the field together with the others. The operation's schema has checked it alone. */
function changed(before: FieldDefinition, member: FieldMember, fields: readonly NamedField[]): FieldDefinition {
  return changedDefinition(before, { [member]: fields });
}

function renamed(definition: FieldDefinition, from: string, to: string): FieldDefinition {
  const rename = <T extends NamedField>(fields: readonly T[]): readonly T[] =>
    fields.map((field) => (field.name === from ? { ...field, name: to } : field));
  return {
    ...definition,
    searchable_fields: rename(definition.searchable_fields),
    facets: rename(definition.facets),
    resources: rename(definition.resources),
    location_field: definition.location_field === from ? to : definition.location_field,
    inferred: 'no',
  };
}

/** Refused because values would move to a field that nobody reads, or away from one that never had any. */
function recordNameKept(): ServiceError {
  const detail = "'name' stands for the names of the records: it cannot be renamed, and no field can be renamed to it.";
  return new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/name', detail }] });
}

function allNames({ searchable_fields, facets, resources, location_field }: FieldDefinition): ReadonlySet<string> {
  const names = [...searchable_fields, ...facets, ...resources].map(({ name }) => name);
  return new Set(location_field === null ? names : [...names, location_field]);
}

function find(definition: FieldDefinition, member: FieldMember, name: string): NamedField | undefined {
  return (definition[member] as readonly NamedField[]).find((field) => field.name === name);
}

function requireField(definition: FieldDefinition, { member, noun }: FieldKind, name: string): NamedField {
  const field = find(definition, member, name);
  if (field !== undefined) return field;
  const names = () => definition[member].map((other) => other.name);
  throw new ServiceError('field-not-found', `The list has no ${noun} '${name}'.`, {
    meant: { given: name, permission: 'list:read', names },
  });
}
