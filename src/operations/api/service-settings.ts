/** `/service/settings`: the settings in force. They are read at start; nothing here changes them. */
import { Type } from 'typebox';
import { settingsInForce, type SettingInForce } from '../../platform/index.js';
import { defineOperation, type Operation } from '../dispatch/operation.js';
import { accountParams, nullable, named, object, oneOf } from './schemas.js';

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);

const setting = named('Setting', {
  name: Type.String({ description: 'Section and name, as in a file of settings', examples: ['search.threads'] }),
  variable: Type.String({ description: 'Environment variable that sets it' }),
  value: nullable(Type.Union([scalar, Type.Array(scalar)]), { description: 'Null: a secret, which is never shown' }),
  is_secret: Type.Boolean({ description: 'Whether it is a secret, whose value is never shown' }),
  is_set: Type.Boolean({ description: 'Whether it has a value: not an empty text or an empty list' }),
  origin: oneOf(['default', 'file', 'environment'], {
    description: 'Where it came from: the environment comes before a file, and that before the default',
  }),
  file: nullable(Type.String(), { description: 'The file of settings that it came from' }),
  is_automatic: Type.Boolean({ description: 'The service chose the number itself, for this machine' }),
});

export const serviceSettingsOperations: readonly Operation[] = [
  defineOperation({
    name: 'service.settings',
    summary: 'The settings of the service, and where each came from',
    description:
      'The settings in force since the service started. Only the command line, and owners of the account that the first start made, may read them; no key may. Values of secrets are never shown.',
    method: 'GET',
    path: '/service/settings/{account}',
    permission: 'service:settings',
    callers: ['console', 'cli'],
    target: 'account',
    params: accountParams,
    responses: {
      200: { description: 'Every setting', schema: object({ settings: Type.Array(setting) }) },
    },
    handle: ({ services }) => ({
      status: 200,
      body: { settings: settingsInForce(services.config).map(described) },
    }),
  }),
];

function described({ name, variable, value, isSecret, origin, isAutomatic }: SettingInForce) {
  return {
    name,
    variable,
    value: isSecret ? null : (value as string | number | boolean | (string | number | boolean)[]),
    is_secret: isSecret,
    is_set: value !== '' && !(Array.isArray(value) && value.length === 0),
    origin: origin.kind,
    file: origin.kind === 'file' ? origin.path : null,
    is_automatic: isAutomatic,
  };
}
