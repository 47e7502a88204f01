import { Button, Menu, useMantineColorScheme } from '@mantine/core';
import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { client, sessionEnd } from '../service/client.js';
import { forgetSession, useAccount, useSession } from '../service/session.js';
import { text } from '../messages/index.js';

export function PersonMenu() {
  const { person, accounts } = useSession();
  const account = useAccount();
  const navigate = useNavigate();
  const others = accounts.filter(({ name }) => name !== account);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="xs" maw={220}>
          {person.email ?? text.shell.you}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/$account/profile" params={{ account } as never}>
          {text.profile.title}
        </Menu.Item>
        <ThemeItems />
        {others.map(({ name }) => (
          <Menu.Item key={name} onClick={() => void navigate({ to: '/$account', params: { account: name } })}>
            {text.shell.otherAccount(name)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <SignOut />
      </Menu.Dropdown>
    </Menu>
  );
}

function ThemeItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (['light', 'dark', 'auto'] as const)
    .filter((scheme) => scheme !== colorScheme)
    .map((scheme) => (
      <Menu.Item
        key={scheme}
        onClick={() => {
          setColorScheme(scheme);
        }}
      >
        {text.shell.theme[scheme]}
      </Menu.Item>
    ));
}

function SignOut() {
  const router = useRouter();
  const signOut = async (): Promise<void> => {
    // Errors are ignored: if the service has forgotten the session, it has ended as well.
    await sessionEnd(client, {}).catch(() => undefined);
    forgetSession();
    await router.navigate({ to: '/sign-in', replace: true });
  };
  return <Menu.Item onClick={() => void signOut()}>{text.shell.signOut}</Menu.Item>;
}
