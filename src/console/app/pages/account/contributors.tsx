import { Badge, Group, NativeSelect, Table, TextInput } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import {
  contributorCreate,
  contributorCreateSchemas,
  contributorDelete,
  contributorList,
  contributorUpdate,
  type ContributorListOutput,
} from '../../service/client.js';
import { readingAll, useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { FormModal } from '../../ui/form-modal.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { SecretOnce } from '../../ui/secret.js';
import { When } from '../../ui/when.js';

type Contributor = ContributorListOutput['contributors'][number];
type Role = Contributor['role'];

const { email: emailSchema, role: roleSchema } = contributorCreateSchemas.body.properties;
const ROLES = roleSchema.enum.map((value) => ({ value, label: text.people.roles[value] }));

/** People who work on the account, and their roles. */
export function Contributors() {
  const account = useAccount();
  const may = useMay();
  const [link, setLink] = useState<string>();
  const { contributors } = useSuspenseQuery(readingAll(contributorList, { params: { account } })).data;
  const { shown, find, more } = useFoundRows(contributors, { label: text.people.find, textOf: nameOf });
  return (
    <Page
      title={text.people.title}
      lead={text.people.lead}
      actions={may(contributorCreate) ? <Invite onLink={setLink} /> : undefined}
    >
      {link === undefined ? null : <SecretOnce title={text.people.invited} secret={link} />}
      {find}
      <Columns heads={[text.people.email, text.people.role, text.people.added, '']} label={text.people.title}>
        {shown.map((contributor) => (
          <ContributorRow key={contributor.id} contributor={contributor} />
        ))}
      </Columns>
      {more}
    </Page>
  );
}

const nameOf = ({ email }: Contributor): string => email ?? text.people.nameless;

function ContributorRow({ contributor }: { readonly contributor: Contributor }) {
  const account = useAccount();
  const may = useMay();
  const update = useChange(contributorUpdate);
  const remove = useChange(contributorDelete);
  const { id, role, state, added_utc } = contributor;
  const name = nameOf(contributor);
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Group gap="xs">
          {name}
          {state === 'invited' ? <Badge variant="light">{text.people.waiting}</Badge> : null}
        </Group>
      </Table.Th>
      <Table.Td>
        {may(contributorUpdate) ? (
          <NativeSelect
            size="xs"
            miw={110}
            aria-label={text.people.roleOf(name)}
            data={ROLES}
            value={role}
            onChange={(event) => {
              update.mutate({ params: { account, id }, body: { role: event.currentTarget.value as Role } });
            }}
          />
        ) : (
          text.people.roles[role]
        )}
        <Problem error={update.error} />
      </Table.Td>
      <Table.Td>
        <When iso={added_utc} />
      </Table.Td>
      <Table.Td>
        {may(contributorDelete) ? (
          <Group justify="flex-end">
            <ConfirmButton
              label={text.people.remove}
              short={text.common.remove}
              question={text.people.removeQuestion(name)}
              onConfirm={() => remove.mutateAsync({ params: { account, id } })}
              button={{ 'aria-label': text.fields.removeOf(name) }}
            />
          </Group>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
}

function Invite({ onLink }: { readonly onLink: (link: string | undefined) => void }) {
  const account = useAccount();
  const create = useChange(contributorCreate);
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const submit = async (): Promise<void> => {
    const { link } = await create.mutateAsync({ params: { account }, body: { email, role } });
    onLink(link ?? undefined);
    setEmail('');
  };
  return (
    <FormModal label={text.people.invite} place="invite" button={{ size: 'sm' }} onSubmit={submit}>
      <TextInput
        type="email"
        label={text.people.email}
        maxLength={emailSchema.maxLength}
        required
        data-autofocus
        value={email}
        onChange={(event) => {
          setEmail(event.currentTarget.value);
        }}
      />
      <NativeSelect
        label={text.people.role}
        description={text.people.lead}
        data={ROLES}
        value={role}
        onChange={(event) => {
          setRole(event.currentTarget.value as Role);
        }}
      />
    </FormModal>
  );
}
