import {
  Alert,
  Button,
  Center,
  Code,
  Divider,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRouterState, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { text } from '../../messages/index.js';
import {
  client,
  sessionCreate,
  sessionCreateSchemas,
  sessionSetPasswordSchemas,
  sessionOpenid,
  sessionWays,
  ServiceProblem,
  type SessionCreateInput,
} from '../../service/client.js';
import { useFinish } from '../../service/finish.js';
import { keepFlow } from '../../service/openid-flow.js';
import { reading } from '../../service/queries.js';
import { needCookies } from '../../service/session.js';
import { useTitle } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';

/** Sign-in by email and password, or by a one-time link, whose token is in the fragment of the address. */
export function SignIn() {
  useTitle(text.signIn.title);
  const { to } = useSearch({ from: '/sign-in' });
  const finish = useFinish(to);
  const hash = useRouterState({ select: ({ location }) => location.hash });
  // Read on the first render, since it is removed from the address at once.
  const [link] = useState(() => (hash.startsWith('link=') ? hash.slice('link='.length) : undefined));
  if (link !== undefined && location.hash !== '') history.replaceState(history.state, '', location.pathname);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <Text size="sm" c="dimmed">
            {text.signIn.toWhat}
          </Text>
          <Title order={1} size="h3">
            {link === undefined ? text.signIn.title : text.signIn.welcome}
          </Title>
          {link === undefined ? null : <Text c="dimmed">{text.signIn.linkLead}</Text>}
          <SignInForm link={link} email="" onDone={finish} />
          {link === undefined ? <OpenIdButton /> : null}
          {link === undefined ? (
            <Text size="sm" c="dimmed">
              {text.signIn.forgotten} <Code>{text.signIn.forgottenCommand}</Code>
            </Text>
          ) : null}
        </Stack>
      </Paper>
    </Center>
  );
}

/** Button for sign-in by the OpenID provider, if there is one. The browser returns to the page `openid`. */
function OpenIdButton() {
  const { to } = useSearch({ from: '/sign-in' });
  const ways = useQuery(reading(sessionWays, {}));
  const begin = useMutation({
    mutationFn: async () => {
      needCookies();
      return sessionOpenid(client, {});
    },
    onSuccess: ({ url, flow }) => {
      keepFlow({ flow, to });
      location.assign(url);
    },
  });
  const provider = ways.data?.openid;
  if (provider === null || provider === undefined) return null;
  return (
    <Stack>
      <Divider label={text.signIn.or} />
      <Problem error={begin.error} />
      <Button
        variant="default"
        fullWidth
        loading={begin.isPending}
        onClick={() => {
          begin.mutate();
        }}
      >
        {text.signIn.openId(provider.name)}
      </Button>
      {provider.sign_up ? (
        <Text size="sm" c="dimmed">
          {text.signIn.openIdNew}
        </Text>
      ) : null}
    </Stack>
  );
}

/** Schemas of a sign-in by password; those by link are the same. */
const { new_password: newPassword } = sessionSetPasswordSchemas.body.properties;
const { properties: limits } = sessionCreateSchemas.body.anyOf[0];

interface Entry {
  readonly email: string;
  readonly password: string;
}

interface SignInFormProps {
  readonly link: string | undefined;
  /** Initial value of the form. */
  readonly email: string;
  readonly onDone: () => Promise<void>;
}

export function SignInForm({ link, email, onDone }: SignInFormProps) {
  const [entry, setEntry] = useState<Entry>({ email, password: '' });
  const [state, setState] = useState<{ readonly busy: boolean; readonly error: unknown }>({ busy: false, error: null });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setState({ busy: true, error: null });
    signInBy(bodyOf(entry, link))
      .then(onDone)
      .catch((error: unknown) => {
        setState({ busy: false, error });
      });
  };
  const isLink = link !== undefined;
  const password = {
    label: isLink ? text.signIn.newPassword : text.signIn.password,
    value: entry.password,
    autoComplete: isLink ? 'new-password' : 'current-password',
    maxLength: limits.password.maxLength,
    ...(isLink ? { minLength: newPassword.minLength } : {}),
  };
  return (
    <form onSubmit={submit} aria-label={text.signIn.title}>
      <Stack>
        <TextInput
          label={isLink ? text.signIn.ownEmail : text.signIn.email}
          description={isLink ? text.signIn.ownEmailHint : undefined}
          type="email"
          autoComplete="username"
          required={!isLink}
          maxLength={limits.email.maxLength}
          value={entry.email}
          onChange={(event) => {
            setEntry({ ...entry, email: event.currentTarget.value });
          }}
        />
        <PasswordInput
          {...password}
          description={isLink ? text.signIn.newPasswordHint : undefined}
          required={!isLink}
          visibilityToggleButtonProps={{ 'aria-label': text.signIn.showPassword, 'aria-hidden': false, tabIndex: 0 }}
          onChange={(event) => {
            setEntry({ ...entry, password: event.currentTarget.value });
          }}
        />
        <SignInProblem error={state.error} isLink={isLink} />
        <Button type="submit" loading={state.busy} fullWidth>
          {text.signIn.submit}
        </Button>
      </Stack>
    </form>
  );
}

async function signInBy(body: SessionCreateInput['body']): Promise<void> {
  needCookies();
  await sessionCreate(client, { body });
}

function SignInProblem({ error, isLink }: { readonly error: unknown; readonly isLink: boolean }) {
  const isFailure = error instanceof ServiceProblem && error.code === 'sign-in-failed';
  if (!isFailure) return <Problem error={error} />;
  return (
    <Alert color="red" role="alert" title={text.signIn.failed}>
      {isLink ? text.signIn.linkFailed : text.signIn.passwordFailed}
    </Alert>
  );
}

function bodyOf({ email, password }: Entry, link: string | undefined): SessionCreateInput['body'] {
  if (link === undefined) return { email, password };
  return { link, ...(email === '' ? {} : { email }), ...(password === '' ? {} : { password }) };
}
