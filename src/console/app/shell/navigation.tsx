import { NavLink } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useAccount, useMay } from '../service/session.js';
import { PLACES } from './places.js';

export function Navigation({ onNavigate }: { readonly onNavigate: () => void }) {
  const account = useAccount();
  const may = useMay();
  return PLACES.filter(({ needs }) => may(needs)).map(({ to, label }) => {
    return (
      <NavLink
        key={to}
        component={Link}
        to={to}
        params={{ account } as never}
        label={label}
        activeOptions={{ exact: to === '/$account' }}
        onClick={onNavigate}
      />
    );
  });
}
