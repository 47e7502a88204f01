/** `gannet service settings`: lists the settings in force, one per line. */
import type { AnswerPrinter } from '../operations/index.js';
import { printable } from './output.js';

interface SettingsAnswer {
  readonly settings: readonly {
    readonly name: string;
    readonly value: unknown;
    readonly is_secret: boolean;
    readonly is_set: boolean;
    readonly origin: string;
    readonly variable: string;
    readonly file: string | null;
    readonly is_automatic: boolean;
  }[];
}

export const settingsView: AnswerPrinter = (answer, { table }) => {
  const rows = (answer as SettingsAnswer).settings.map((setting) => [
    setting.name,
    valueText(setting),
    originText(setting),
  ]);
  return table([['SETTING', 'VALUE', 'FROM'], ...rows]);
};

type Setting = SettingsAnswer['settings'][number];

function valueText({ value, is_secret, is_set }: Setting): string {
  if (!is_set) return '-';
  if (is_secret) return '(hidden)';
  return printable(Array.isArray(value) ? value.join(', ') : String(value));
}

function originText({ origin, variable, file, is_automatic }: Setting): string {
  const from = origin === 'environment' ? variable : origin === 'file' ? printable(file ?? '') : 'default';
  return is_automatic ? `${from}, chosen for this machine` : from;
}
