/** Settings that features declare in their folders; read, validated and documented like those of `config/schema.ts`. */
import type { Static, TSchema } from 'typebox';
import type { Config } from '../../config/schema.js';

export interface SettingSpec<Schema extends TSchema = TSchema> {
  /** Schema of a one-line TOML value: a number, a text, a boolean, or a list of these. */
  readonly schema: Schema;
  readonly default: Static<Schema>;
  /** Meaning and unit, as a sentence. */
  readonly comment: string;
  /** True if the value must not be shown. Default false. */
  readonly isSecret?: boolean;
}

/** A section of the settings. */
export interface SettingsSection<Members = Readonly<Record<string, SettingSpec>>> {
  readonly section: string;
  readonly members: Members;
}

export type SettingValues<Members> = {
  readonly [Name in keyof Members]: Members[Name] extends { readonly schema: infer Schema extends TSchema }
    ? Static<Schema>
    : never;
};

/** Declares a section. `section` is its name in TOML, `[section]`; its variables are `GANNET_<SECTION>_<NAME>`. */
export function defineSettings<const Members extends Readonly<Record<string, SettingSpec>>>(
  section: string,
  members: Members,
): SettingsSection<Members> {
  return Object.freeze({ section, members });
}

/** Returns the values in force. Throws if the config was loaded without this section. */
export function settingsOf<Members>(
  config: Config,
  { section }: Pick<SettingsSection<Members>, 'section' | 'members'>,
): SettingValues<Members> {
  const values = (config as Readonly<Record<string, unknown>>)[section];
  if (values === undefined) throw new Error(`the settings were loaded without [${section}]`);
  return values as SettingValues<Members>;
}
