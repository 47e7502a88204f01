import { Button, Checkbox, Code, Group, Stack, Table, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { text } from '../../messages/index.js';
import { client, listRead, listUpdate, listUpdateSchemas, searchList } from '../../service/client.js';
import { queries, useChangeBy } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Empty } from '../../ui/empty.js';
import { useDraft } from '../../ui/draft.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { count } from '../../ui/format.js';
import { editing, FormModal } from '../../ui/form-modal.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { prose } from '../../ui/prose.js';
import { useTextInAddress } from '../../ui/text-in-address.js';
import { useList, useListParams, type List } from './list-frame.js';

type Rule = List['query_rules'][number];

const EMPTY: Rule = { name: '', pattern: '', filter: '', keep: false };

/** Changes one rule and keeps the current state of the others, even if they were changed since the page was shown. */
function useRules() {
  const { query_rules } = useList();
  const params = useListParams();
  const update = useChangeBy(async (changed: (rules: readonly Rule[]) => readonly Rule[]) => {
    const { query_rules: rules } = await listRead(client, { params });
    return listUpdate(client, { params, body: { query_rules: changed(rules) } });
  });
  return {
    rules: query_rules,
    add: (rule: Rule) => update.mutateAsync((rules) => [...rules, rule]),
    replace: (old: Rule, rule: Rule) =>
      update.mutateAsync((rules) => {
        if (!rules.some((each) => isSame(each, old))) {
          void queries.invalidateQueries();
          throw new Error(text.rules.gone(old.name));
        }
        return rules.map((each) => (isSame(each, old) ? rule : each));
      }),
    remove: (rule: Rule) => update.mutateAsync((rules) => rules.filter((each) => !isSame(each, rule))),
  };
}

function isSame(one: Rule, other: Rule): boolean {
  return (['name', 'pattern', 'filter', 'keep'] as const).every((member) => one[member] === other[member]);
}

/** Rules that turn parts of the search text into filters. */
export function QueryRules() {
  const may = useMay();
  const { rules, remove } = useRules();
  const { shown, find, more } = useFoundRows(rules, { label: text.rules.find, textOf: ({ name }) => name });
  return (
    <Stack gap="xl">
      <Section title={text.list.rules} lead={text.rules.lead} actions={may(listUpdate) ? <RuleForm /> : undefined}>
        {find}
        {rules.length === 0 ? (
          <Empty step={listUpdate}>{text.rules.none}</Empty>
        ) : (
          <Columns heads={[text.rules.name, text.rules.pattern, text.rules.filter, '']} label={text.list.rules}>
            {shown.map((rule) => (
              <Table.Tr key={rule.name}>
                <Table.Th scope="row">{rule.name}</Table.Th>
                <Table.Td>
                  <Code>{rule.pattern}</Code>
                </Table.Td>
                <Table.Td>
                  <Code>{rule.filter}</Code>
                </Table.Td>
                <Table.Td>
                  {may(listUpdate) ? (
                    <Group gap="xs" justify="flex-end">
                      <RuleForm rule={rule} />
                      <ConfirmButton
                        label={text.rules.remove}
                        short={text.common.remove}
                        question={text.rules.removeQuestion(rule.name)}
                        onConfirm={() => remove(rule)}
                        button={{ 'aria-label': text.fields.removeOf(rule.name) }}
                      />
                    </Group>
                  ) : null}
                </Table.Td>
              </Table.Tr>
            ))}
          </Columns>
        )}
        {more}
      </Section>
      <TryOut />
    </Stack>
  );
}

function RuleForm({ rule }: { readonly rule?: Rule }) {
  const { add, replace } = useRules();
  const { value: draft, set, forget } = useDraft(rule ?? EMPTY);
  const { name, pattern, filter, keep } = listUpdateSchemas.body.properties.query_rules.items.properties;
  const submit = async (): Promise<void> => {
    await (rule === undefined ? add(draft) : replace(rule, draft));
    forget();
  };
  return (
    <FormModal
      {...(rule === undefined ? { label: text.rules.add } : editing(rule.name))}
      place={rule === undefined ? 'new-rule' : `rule:${rule.name}`}
      button={rule === undefined ? {} : { variant: 'default' }}
      onSubmit={submit}
    >
      <TextInput
        label={text.rules.name}
        description={prose(name.description)}
        maxLength={name.maxLength}
        required
        data-autofocus
        value={draft.name}
        onChange={(event) => {
          set({ name: event.currentTarget.value });
        }}
      />
      <TextInput
        label={text.rules.pattern}
        description={prose(pattern.description)}
        placeholder={pattern.examples[0]}
        maxLength={pattern.maxLength}
        required
        value={draft.pattern}
        onChange={(event) => {
          set({ pattern: event.currentTarget.value });
        }}
      />
      <Textarea
        label={text.rules.filter}
        description={prose(filter.description)}
        placeholder={filter.examples[0]}
        maxLength={filter.maxLength}
        required
        value={draft.filter}
        onChange={(event) => {
          set({ filter: event.currentTarget.value });
        }}
      />
      <Checkbox
        label={text.rules.keep}
        description={prose(keep.description)}
        checked={draft.keep ?? false}
        onChange={(event) => {
          set({ keep: event.currentTarget.checked });
        }}
      />
    </FormModal>
  );
}

/** Shows the effect of the rules on a text, by a search. */
function TryOut() {
  const { current_version } = useList();
  const params = useListParams();
  const [query, setQuery] = useTextInAddress('try');
  const tried = useMutation({
    mutationFn: () =>
      searchList(client, {
        params: { ...params, version: String(current_version) },
        body: { query, size: 0, cache: false },
      }),
  });
  return (
    <Section title={text.rules.tryOut} lead={text.rules.tryLead}>
      <form
        aria-label={text.rules.tryOut}
        onSubmit={(event) => {
          event.preventDefault();
          tried.mutate();
        }}
      >
        <Group align="flex-end">
          <TextInput
            label={text.search.query}
            value={query}
            onChange={(event) => {
              setQuery(event.currentTarget.value);
            }}
          />
          <Button type="submit" variant="default" loading={tried.isPending}>
            {text.rules.try}
          </Button>
        </Group>
      </form>
      <Problem error={tried.error} />
      {tried.data === undefined ? null : (
        <Text role="status">
          {tried.data.applied.query_rules.length === 0
            ? text.rules.noneApplied
            : text.rules.applied(tried.data.applied.query_rules.join(', '))}{' '}
          {text.synonyms.found(count(tried.data.total_count))}
        </Text>
      )}
    </Section>
  );
}
