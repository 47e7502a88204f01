/** Origins of the settings in force, for showing what a running service uses. */
import type { Config } from '../../config/schema.js';

/** `default`: from `config/default.toml`, or from the feature that declares the setting. */
export type SettingOrigin =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'environment'; readonly variable: string };

export interface SettingInForce {
  /** Such as `search.threads`. */
  readonly name: string;
  /** The environment variable that sets it. */
  readonly variable: string;
  /** What it means, with unit and range, as sentences. */
  readonly comment: string;
  /** True if the value must not be shown. */
  readonly isSecret: boolean;
  readonly value: unknown;
  readonly origin: SettingOrigin;
  /** True if the service chose the value because "automatic" was given. */
  readonly isAutomatic: boolean;
}

const known = new WeakMap<Config, readonly SettingInForce[]>();

/** Records the origins of a loaded config. */
export function keepOrigins(config: Config, settings: readonly SettingInForce[]): void {
  known.set(config, settings);
}

/** Returns the settings in the order of the schema. Throws for a config that was not loaded. */
export function settingsInForce(config: Config): readonly SettingInForce[] {
  const settings = known.get(config);
  if (settings === undefined) throw new Error('this configuration was made by hand: nothing is known of its origins');
  return settings;
}

/** Returns the origin for the message about a wrong value. */
export function originText(origin: SettingOrigin): string {
  switch (origin.kind) {
    case 'default':
      return 'the default settings';
    case 'file':
      return `file:${origin.path}`;
    case 'environment':
      return `environment variable ${origin.variable}`;
  }
}
