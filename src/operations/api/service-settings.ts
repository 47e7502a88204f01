/** `/service/settings`: the settings in force. They are read at start; nothing here changes them. */
import { Type } from 'typebox';
import { settingsInForce, type SettingInForce } from '../../platform/index.js';
import { defineOperation, type Operation } from '../dispatch/operation.js';
import { accountParams, nullable, named, object, oneOf } from './schemas.js';

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);

const setting = named(
  'Setting',
  {
    name: Type.String({
      description: 'Section and name of the setting, as in a settings file',
      examples: ['search.threads'],
    }),
    variable: Type.String({ description: 'Environment variable that sets it' }),
    description: Type.String({ description: 'What the setting means, with its unit and range' }),
    value: nullable(Type.Union([scalar, Type.Array(scalar)]), {
      description: 'Value of the setting. Null for a secret, which is never shown',
    }),
    is_secret: Type.Boolean({ description: 'Whether the setting is a secret' }),
    is_set: Type.Boolean({
      description: 'Whether the setting has a value: anything except an empty text or an empty array',
    }),
    origin: oneOf(['default', 'file', 'environment'], {
      description:
        'Where the value came from. The environment takes precedence over a settings file, and a file over the default',
    }),
    file: nullable(Type.String(), {
      description: 'Path of the settings file that the value came from. Null if it did not come from a file',
    }),
    is_automatic: Type.Boolean({ description: 'Whether the service chose the value itself, for this machine' }),
  },
  { description: 'A setting of the service' },
);

export const serviceSettingsOperations: readonly Operation[] = [
  defineOperation({
    name: 'service.settings',
    summary: 'List the settings of the service and their origins',
    description:
      'Lists the settings that the service has used since it started. Only the command line and owners of the first account (the one that the first start created) may read them; no API key may. Values of secrets are never shown.',
    method: 'GET',
    path: '/service/settings/{account}',
    permission: 'service:settings',
    callers: ['console', 'cli'],
    target: 'account',
    params: accountParams,
    responses: {
      200: {
        description: 'All settings',
        schema: object({ settings: Type.Array(setting, { description: 'The settings' }) }),
      },
    },
    handle: ({ services }) => ({
      status: 200,
      body: { settings: settingsInForce(services.config).map(described) },
    }),
  }),
];

function described({ name, variable, comment, value, isSecret, origin, isAutomatic }: SettingInForce) {
  return {
    name,
    variable,
    description: comment,
    value: isSecret ? null : (value as string | number | boolean | (string | number | boolean)[]),
    is_secret: isSecret,
    is_set: value !== '' && !(Array.isArray(value) && value.length === 0),
    origin: origin.kind,
    file: origin.kind === 'file' ? origin.path : null,
    is_automatic: isAutomatic,
  };
}
