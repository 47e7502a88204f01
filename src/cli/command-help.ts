/** Additions to every command's help: required options, and an example. */
import { Help, type Command, type Option } from 'commander';

/** Examples of hand-written commands, as typed after the name. Declared commands bring their own (`CommandSpec`). */
export const EXAMPLES: Readonly<Record<string, string>> = {
  analytics: 'birds --from 2026-11-01 --to 2026-11-30',
  export: '--list birds -o birds.ndjson',
  import: 'birds.csv --list birds --create',
  'key create': '--name shop --access search-and-read --scope list --scope-target birds',
  'key delete': 'shop',
  'media delete': 'manuals/pump.pdf',
  'media get': 'manuals/pump.pdf -o pump.pdf',
  'media list': '--prefix manuals/',
  'media put': 'pump.pdf manuals/pump.pdf',
  'media-store add': 'archive --kind folder --folder /srv/files',
  'media-store delete': 'archive',
  reindex: '--list birds',
  restore: '/srv/backups/20261122T081500Z',
  search: "birds wings --filter 'wingspan_cm > 100'",
  'webhook create': '--url https://example.com/hooks/gannet --events searchresult.created,list.deleted',
  'webhook delete': '019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f',
  'webhook deliveries': '019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f --set-aside',
  'webhook replay': '019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f',
  'webhook rotate-secret': '019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f',
  'webhook secret': '019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f',
  'webhook test': '019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f',
};

const help = new Help();

/** For `configureHelp`: marks required options, which Commander does not. */
export const OPTIONS_WITH_REQUIRED = {
  optionDescription: (option: Option) =>
    option.mandatory && option.defaultValue === undefined
      ? `${help.optionDescription(option)} (required)`
      : help.optionDescription(option),
};

/** Adds examples to each command below this one. */
export function addExamples(command: Command, before = ''): void {
  for (const each of command.commands) {
    const name = `${before}${each.name()}`;
    const example = EXAMPLES[name];
    if (example !== undefined) each.addHelpText('after', `\nExample: gannet ${name} ${example}`);
    addExamples(each, `${name} `);
  }
}
