/** Where the settings that are in force came from, for who asks what a running service goes by. */
import type { Config } from '../../config/schema.js';

/** `default`: of `config/default.toml`, or of the feature that declares it. */
export type SettingOrigin =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'environment'; readonly variable: string };

export interface SettingInForce {
  /** `search.threads` */
  readonly name: string;
  /** Of the environment, which it can be given by. */
  readonly variable: string;
  /** Whoever shows values shows none of these. */
  readonly isSecret: boolean;
  readonly value: unknown;
  readonly origin: SettingOrigin;
  /** The service chose it: what was given was "automatic". */
  readonly isAutomatic: boolean;
}

const known = new WeakMap<Config, readonly SettingInForce[]>();

/** What was loaded keeps what is known of it. */
export function keepOrigins(config: Config, settings: readonly SettingInForce[]): void {
  known.set(config, settings);
}

/** In the order of the schema. Throws for a configuration that was not loaded. */
export function settingsInForce(config: Config): readonly SettingInForce[] {
  const settings = known.get(config);
  if (settings === undefined) throw new Error('this configuration was made by hand: nothing is known of its origins');
  return settings;
}

/** As it stands in the sentence about a wrong value. */
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
