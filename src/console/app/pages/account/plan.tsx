import { Progress, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { text } from '../../messages/index.js';
import { planList, planRead, sessionWays, type PlanListOutput, type PlanReadOutput } from '../../service/client.js';
import { reading } from '../../service/queries.js';
import { useAccount } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { bytes, count, share } from '../../ui/format.js';
import { Page, Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';

const READ_MS = 10_000;
/** Share of a limit from which it is shown as near. */
const NEAR = 0.9;

type Limit = keyof PlanReadOutput['usage'];

/** Limits of the account, and its usage. */
export function Plan() {
  const account = useAccount();
  const read = useQuery({ ...reading(planRead, { params: { account } }), refetchInterval: READ_MS });
  const plans = useQuery(reading(planList, {}));
  const ways = useQuery(reading(sessionWays, {}));
  return (
    <Page title={text.plan.title} lead={read.data === undefined ? undefined : leadOf(read.data)}>
      <Problem error={read.error ?? plans.error} onRetry={() => void read.refetch()} />
      {read.data === undefined ? null : <Usage read={read.data} />}
      {plans.data === undefined ? null : (
        <Offered
          plans={plans.data.plans}
          current={read.data?.plan}
          newcomers={ways.data?.openid?.sign_up === true ? plans.data.sign_up : undefined}
        />
      )}
    </Page>
  );
}

function leadOf({ plan, successor }: PlanReadOutput): string {
  return successor === null ? text.plan.on(plan) : text.plan.upgrades(plan, successor);
}

function Usage({ read }: { readonly read: PlanReadOutput }) {
  const entries = Object.entries(read.usage) as [Limit, PlanReadOutput['usage'][Limit]][];
  return (
    <Section title={text.plan.usage} lead={text.plan.usageLead}>
      <Stack gap="sm" maw={640}>
        {entries.map(([limit, { used, limit: allowed }]) => (
          <div key={limit}>
            <Text>
              {text.plan.limits[limit]}:{' '}
              {allowed === null
                ? text.plan.unlimited(amount(limit, used))
                : text.plan.of(amount(limit, used), amount(limit, allowed), share(part(used, allowed)))}
            </Text>
            {allowed === null ? null : (
              <Progress
                aria-label={text.plan.limits[limit]}
                value={100 * Math.min(1, part(used, allowed))}
                color={part(used, allowed) >= NEAR ? 'red' : 'blue'}
              />
            )}
          </div>
        ))}
      </Stack>
    </Section>
  );
}

function Offered({
  plans,
  current,
  newcomers,
}: {
  readonly plans: PlanListOutput['plans'];
  readonly current: string | undefined;
  /** Plan of people who sign up. Undefined if nobody can. */
  readonly newcomers: string | undefined;
}) {
  const limits = Object.keys(plans[0]?.limits ?? {}) as Limit[];
  return (
    <Section title={text.plan.plans} lead={text.plan.plansLead(newcomers)}>
      <Columns heads={[text.plan.plan, ...limits.map((limit) => text.plan.limits[limit])]} label={text.plan.plans}>
        {plans.map(({ name, limits: allowed }) => (
          <Table.Tr key={name}>
            <Table.Th scope="row">{name === current ? text.plan.current(name) : name}</Table.Th>
            {limits.map((limit) => (
              <Table.Td key={limit}>{allowedText(limit, allowed[limit])}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Columns>
    </Section>
  );
}

function allowedText(limit: Limit, allowed: number | null): string {
  return allowed === null ? text.plan.noLimit : amount(limit, allowed);
}

function amount(limit: Limit, value: number): string {
  return limit === 'storage_bytes' ? bytes(value) : count(value);
}

function part(used: number, allowed: number): number {
  return allowed === 0 ? Number(used > 0) : used / allowed;
}
