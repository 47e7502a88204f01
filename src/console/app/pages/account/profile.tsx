import { Badge, Button, Group, PasswordInput, Stack, Table, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { text } from '../../messages/index.js';
import {
  client,
  sessionEndOne,
  sessionList,
  sessionSetPassword,
  sessionSetPasswordSchemas,
  type SessionListOutput,
  type SessionSetPasswordInput,
} from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { sessionQuery, useSession } from '../../service/session.js';
import { browserName } from '../../ui/browser-name.js';
import { Columns } from '../../ui/columns.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { Page, Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { prose } from '../../ui/prose.js';
import { When } from '../../ui/when.js';

/** Settings of the person: password and sessions. */
export function Profile() {
  const { person } = useSession();
  return (
    <Page title={text.profile.title} lead={person.email ?? text.profile.nameless}>
      <Password key={String(person.has_password)} />
      <Sessions />
    </Page>
  );
}

const NOTHING = { old: '', chosen: '', email: '' };

/** Sets a password, after which the session may have another token. */
function useNewPassword(onSet: () => void) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (body: SessionSetPasswordInput['body']) => sessionSetPassword(client, { body }),
    onSuccess: async () => {
      await cache.fetchQuery({ ...sessionQuery, staleTime: 0 });
      onSet();
    },
  });
}

function Password() {
  const { person } = useSession();
  const [entry, setEntry] = useState(NOTHING);
  const change = useNewPassword(() => {
    setEntry(NOTHING);
  });
  const { new_password } = sessionSetPasswordSchemas.body.properties;
  return (
    <Section title={person.has_password ? text.profile.changePassword : text.profile.setPassword}>
      <form
        aria-label={text.profile.setPassword}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({
            new_password: entry.chosen,
            ...(person.has_password ? { old_password: entry.old } : {}),
            ...(entry.email === '' ? {} : { email: entry.email }),
          });
        }}
      >
        <Stack maw={420}>
          {person.email === null ? (
            <TextInput
              type="email"
              label={text.signIn.email}
              description={text.profile.emailHint}
              autoComplete="username"
              required
              value={entry.email}
              onChange={(event) => {
                setEntry({ ...entry, email: event.currentTarget.value });
              }}
            />
          ) : null}
          {person.has_password ? (
            <Secret
              label={text.profile.oldPassword}
              autoComplete="current-password"
              value={entry.old}
              onChange={(old) => {
                setEntry({ ...entry, old });
              }}
            />
          ) : null}
          <Secret
            label={text.signIn.newPassword}
            description={prose(new_password.description)}
            minLength={new_password.minLength}
            autoComplete="new-password"
            value={entry.chosen}
            onChange={(chosen) => {
              setEntry({ ...entry, chosen });
            }}
          />
          <Problem error={change.error} />
          <Group>
            <Button type="submit" loading={change.isPending}>
              {text.common.save}
            </Button>
            {change.isSuccess ? <Text role="status">{text.profile.passwordSet}</Text> : null}
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

interface SecretProps {
  readonly label: string;
  readonly description?: ReactNode;
  readonly minLength?: number;
  readonly autoComplete: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Secret({ onChange, ...input }: SecretProps) {
  return (
    <PasswordInput
      {...input}
      required
      visibilityToggleButtonProps={{ 'aria-label': text.signIn.showPassword, 'aria-hidden': false, tabIndex: 0 }}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
    />
  );
}

function Sessions() {
  const { sessions } = useSuspenseQuery(reading(sessionList, {})).data;
  const { shown, find, more } = useFoundRows(sessions, { label: text.profile.find, textOf });
  return (
    <Section title={text.profile.sessions} lead={text.profile.sessionsLead}>
      {find}
      <Columns
        heads={[text.profile.browser, text.profile.address, text.profile.signedIn, text.profile.lastUsed, '']}
        label={text.profile.sessions}
        minWidth={640}
      >
        {shown.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </Columns>
      {more}
    </Section>
  );
}

const textOf = ({ user_agent, address }: SessionListOutput['sessions'][number]): string =>
  `${browserName(user_agent)} ${address}`;

function SessionRow({ session }: { readonly session: SessionListOutput['sessions'][number] }) {
  const end = useChange(sessionEndOne);
  const { id, user_agent, address, created_utc, last_used_utc, is_current } = session;
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" lineClamp={1} miw="15ch" maw={320} title={user_agent}>
          {browserName(user_agent)}
        </Text>
      </Table.Td>
      <Table.Td>{address}</Table.Td>
      <Table.Td>
        <When iso={created_utc} />
      </Table.Td>
      <Table.Td>
        <When iso={last_used_utc} />
      </Table.Td>
      <Table.Td>
        {is_current ? (
          <Badge variant="light">{text.profile.thisOne}</Badge>
        ) : (
          <Button
            variant="default"
            size="xs"
            loading={end.isPending}
            onClick={() => {
              end.mutate({ params: { id } });
            }}
          >
            {text.profile.end}
          </Button>
        )}
        <Problem error={end.error} />
      </Table.Td>
    </Table.Tr>
  );
}
