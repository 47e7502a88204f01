import { Anchor, Center, Loader, Paper, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { arrival } from '../../service/arrival.js';
import { client, sessionCreate, type SessionCreateInput } from '../../service/client.js';
import { useFinish } from '../../service/finish.js';
import { takeFlow, type KeptFlow } from '../../service/openid-flow.js';
import { useTitle } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';

/** Page to which the provider redirects the browser, with a code for this tab or with an error. */
export function OpenIdReturn() {
  useTitle(text.signIn.title);
  const [back] = useState(takenBack);
  const finish = useFinish(back.kept?.to);
  const signedIn = useQuery({
    queryKey: ['openid'],
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
    queryFn: async () => {
      if (back.body === undefined) throw new Error(back.reason ?? text.signIn.openIdFailed);
      await sessionCreate(client, { body: back.body });
      await finish();
      return true;
    },
  });
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <Title order={1} size="h3">
            {text.signIn.title}
          </Title>
          {signedIn.error === null ? <Loader aria-label={text.common.loading} /> : null}
          <Problem error={signedIn.error} />
          <Anchor component={Link} to="/sign-in">
            {text.signIn.again}
          </Anchor>
        </Stack>
      </Paper>
    </Center>
  );
}

interface Back {
  readonly kept: KeptFlow | undefined;
  readonly body: SessionCreateInput['body'] | undefined;
  /** Error message of the provider. */
  readonly reason: string | null;
}

/** Reads the parameters and removes them from the address at once. */
function takenBack(): Back {
  history.replaceState(history.state, '', location.pathname);
  const kept = takeFlow();
  const [code, state, iss] = [arrival.get('code'), arrival.get('state'), arrival.get('iss')];
  const isWhole = kept !== undefined && code !== null && state !== null;
  return {
    kept,
    body: isWhole ? { flow: kept.flow, code, state, ...(iss === null ? {} : { iss }) } : undefined,
    reason: arrival.get('error_description') ?? arrival.get('error'),
  };
}
