/** Settings that a feature declares in its folder: they are read, checked and described as those of `config/schema.ts` are. */
import type { Static, TSchema } from 'typebox';
import type { Config } from '../../config/schema.js';

export interface SettingSpec<Schema extends TSchema = TSchema> {
  /** Of one line of TOML: a number, a text, a boolean, or a list of these. */
  readonly schema: Schema;
  readonly default: Static<Schema>;
  /** What it means, with its unit, as a sentence. */
  readonly comment: string;
  /** Its value is shown to nobody. Default false. */
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

/** `section`: as in TOML, `[section]`; its variables are `GANNET_<SECTION>_<NAME>`. */
export function defineSettings<const Members extends Readonly<Record<string, SettingSpec>>>(
  section: string,
  members: Members,
): SettingsSection<Members> {
  return Object.freeze({ section, members });
}

/** The values that are in force. Throws where the configuration was loaded without knowing of this section. */
export function settingsOf<Members>(
  config: Config,
  { section }: Pick<SettingsSection<Members>, 'section' | 'members'>,
): SettingValues<Members> {
  const values = (config as Readonly<Record<string, unknown>>)[section];
  if (values === undefined) throw new Error(`the settings were loaded without [${section}]`);
  return values as SettingValues<Members>;
}
