/** Makes the forms of each entry of a Hunspell dictionary by its suffixes (`SFX`). Skips prefixes, which mostly make other words. */

const escaped = (text) => text.replace(/[\\^$.*+?()|{}]/g, '\\$&');

/** Returns a reader of the flags behind a `/`, in the encoding that `FLAG` names. */
function flagReader(lines) {
  const kind = lines.find((line) => line.startsWith('FLAG '))?.split(/\s+/)[1] ?? 'short';
  const read = {
    short: (flags) => [...flags],
    'UTF-8': (flags) => [...flags],
    long: (flags) => flags.match(/../gsu) ?? [],
    num: (flags) => flags.split(','),
  }[kind];
  const aliases = lines.filter((line) => line.startsWith('AF ')).map((line) => line.split(/\s+/)[1]);
  // The first line has the number of aliases.
  return (flags) => (aliases.length > 0 && /^\d+$/.test(flags) ? read(aliases[Number(flags)] ?? '') : read(flags));
}

/** Returns the rules by flag: `{strip, add, fits, flags}`. */
function suffixRules(lines, readFlags) {
  const rules = new Map();
  for (const line of lines) {
    const [kind, flag, strip, added, condition = '.'] = line.trim().split(/\s+/);
    if (kind !== 'SFX' || added === undefined || (/^\d+$/.test(added) && (strip === 'Y' || strip === 'N'))) continue;
    const [add, flags = ''] = added.split('/');
    if (!rules.has(flag)) rules.set(flag, []);
    const pattern = condition.includes('[')
      ? condition.replace(/[\\^$*+?()|{}](?!\])/g, (mark) => mark)
      : escaped(condition).replaceAll('\\.', '.');
    rules.get(flag).push({
      strip: strip === '0' ? '' : strip,
      add: add === '0' ? '' : add,
      fits: condition === '.' ? undefined : new RegExp(`${pattern}$`, 'u'),
      flags: readFlags(flags),
    });
  }
  return rules;
}

/** Yields the forms of each entry, including itself. `aff` and `dic` are the texts of the files. */
export function* formsByEntry({ aff, dic }) {
  const lines = aff.split('\n');
  const readFlags = flagReader(lines);
  const rules = suffixRules(lines, readFlags);
  const addForms = (word, flags, forms, depth) => {
    for (const flag of flags) {
      for (const { strip, add, fits, flags: more } of rules.get(flag) ?? []) {
        if (!word.endsWith(strip) || (fits !== undefined && !fits.test(word))) continue;
        const form = word.slice(0, word.length - strip.length) + add;
        forms.add(form);
        if (depth > 0 && more.length > 0) addForms(form, more, forms, depth - 1);
      }
    }
  };
  for (const line of dic.split('\n').slice(1)) {
    const [entry] = line.split(/[\t\r ]/);
    if (entry === '') continue;
    const [word, flags = ''] = entry.split(/(?<!\\)\//);
    const forms = new Set([word]);
    addForms(word, readFlags(flags), forms, 1);
    yield forms;
  }
}
