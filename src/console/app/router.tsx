/** Routes of the console. Every state has an address: the page, its subject and its options. */
import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import { searchState, type GroupState } from './page-state.js';
import { Failed, FailedPage, NoPage, NotFound } from './shell/failures.js';
import { FailedList } from './shell/failed-list.js';
import { callAs } from './service/client.js';
import { pageOf } from './service/page-code.js';
import { queries } from './service/queries.js';
import { sessionQuery } from './service/session.js';

const root = createRootRoute({ component: Outlet, errorComponent: Failed, notFoundComponent: NotFound });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string } =>
    typeof search['to'] === 'string' ? { to: search['to'] } : {},
  component: pageOf(() => import('./pages/account/sign-in.js'), 'SignIn'),
  errorComponent: Failed,
});

/** Redirect target of OpenID providers. */
const openId = createRoute({
  getParentRoute: () => root,
  path: '/openid',
  component: pageOf(() => import('./pages/account/openid.js'), 'OpenIdReturn'),
  errorComponent: Failed,
});

/** Also the target of one-time links, whose token is in the fragment. */
const entry = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async ({ location }) => {
    if (location.hash.startsWith('link='))
      redirect({ to: '/sign-in', hash: location.hash, replace: true, throw: true });
    const session = await queries.ensureQueryData(sessionQuery);
    const [account] = session?.accounts ?? [];
    if (account !== undefined) redirect({ to: '/$account', params: { account: account.name }, throw: true });
    redirect({ to: '/sign-in', throw: true });
  },
  errorComponent: Failed,
});

const account = createRoute({
  getParentRoute: () => root,
  path: '/$account',
  // Name of the form that is open over the page.
  validateSearch: (search: Record<string, unknown>): { form?: string } =>
    typeof search['form'] === 'string' ? { form: search['form'] } : {},
  beforeLoad: async ({ location, params }) => {
    const session = await queries.ensureQueryData(sessionQuery);
    if (session === null) redirect({ to: '/sign-in', search: { to: location.href }, throw: true });
    callAs({ account: params.account });
  },
  component: pageOf(() => import('./shell/frame.js'), 'Frame'),
  errorComponent: Failed,
  notFoundComponent: NoPage,
});

const start = createRoute({
  getParentRoute: () => account,
  path: '/',
  component: pageOf(() => import('./pages/start/start.js'), 'Start'),
});

const lists = createRoute({
  getParentRoute: () => account,
  path: '/lists',
  component: pageOf(() => import('./pages/list/lists.js'), 'Lists'),
});

const list = createRoute({
  getParentRoute: () => account,
  path: '/list/$list',
  component: pageOf(() => import('./pages/list/list-frame.js'), 'ListFrame'),
  errorComponent: FailedList,
});

const listHome = createRoute({
  getParentRoute: () => list,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/$account/list/$list/search', params, replace: true, throw: true });
  },
});

const listSearch = createRoute({
  getParentRoute: () => list,
  path: '/search',
  validateSearch: searchState,
  component: pageOf(() => import('./pages/list/search.js'), 'ListSearch'),
});

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const listRecords = createRoute({
  getParentRoute: () => list,
  path: '/records',
  validateSearch: (search: Record<string, unknown>): { after?: string; record?: string; add?: true } => {
    const [after, record] = [textOf(search['after']), textOf(search['record'])];
    const add = search['add'] === true ? { add: true as const } : {};
    return { ...(after === undefined ? {} : { after }), ...(record === undefined ? {} : { record }), ...add };
  },
  component: pageOf(() => import('./pages/list/records.js'), 'Records'),
});

const listFields = createRoute({
  getParentRoute: () => list,
  path: '/fields',
  component: pageOf(() => import('./pages/list/fields.js'), 'Fields'),
});

const listSynonyms = createRoute({
  getParentRoute: () => list,
  path: '/synonyms',
  validateSearch: (search: Record<string, unknown>): { term?: string } => {
    const term = textOf(search['term']);
    return term === undefined ? {} : { term };
  },
  component: pageOf(() => import('./pages/list/synonyms.js'), 'Synonyms'),
});

const listRules = createRoute({
  getParentRoute: () => list,
  path: '/rules',
  component: pageOf(() => import('./pages/list/query-rules.js'), 'QueryRules'),
});

const listSuggestions = createRoute({
  getParentRoute: () => list,
  path: '/suggestions',
  component: pageOf(() => import('./pages/list/suggestions.js'), 'Suggestions'),
});

const isNatural = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const daysOf = ({ days }: Record<string, unknown>): { days?: number } => (isNatural(days) ? { days } : {});

const listAnalytics = createRoute({
  getParentRoute: () => list,
  path: '/analytics',
  validateSearch: daysOf,
  component: pageOf(() => import('./pages/list/analytics.js'), 'ListAnalytics'),
});

const listSettings = createRoute({
  getParentRoute: () => list,
  path: '/settings',
  component: pageOf(() => import('./pages/list/settings.js'), 'ListSettings'),
});

const groups = createRoute({
  getParentRoute: () => account,
  path: '/groups',
  component: pageOf(() => import('./pages/account/groups.js'), 'Groups'),
});

const group = createRoute({
  getParentRoute: () => account,
  path: '/group/$group',
  validateSearch: (search: Record<string, unknown>): GroupState => {
    const { days: _, skip, ...options } = searchState(search);
    return { ...options, ...(isNatural(skip) ? { skip } : {}), ...daysOf(search) };
  },
  component: pageOf(() => import('./pages/account/group.js'), 'GroupPage'),
});

const feeds = createRoute({
  getParentRoute: () => account,
  path: '/feeds',
  component: pageOf(() => import('./pages/account/feeds.js'), 'Feeds'),
});

const mediaStores = createRoute({
  getParentRoute: () => account,
  path: '/files',
  component: pageOf(() => import('./pages/account/media-stores.js'), 'MediaStores'),
});

const mediaFiles = createRoute({
  getParentRoute: () => account,
  path: '/files/$store',
  validateSearch: (search: Record<string, unknown>): { prefix?: string } => {
    const prefix = textOf(search['prefix']);
    return prefix === undefined ? {} : { prefix };
  },
  component: pageOf(() => import('./pages/account/media-files.js'), 'MediaFiles'),
});

const models = createRoute({
  getParentRoute: () => account,
  path: '/models',
  component: pageOf(() => import('./pages/account/models.js'), 'Models'),
});

const keys = createRoute({
  getParentRoute: () => account,
  path: '/keys',
  component: pageOf(() => import('./pages/account/api-keys.js'), 'ApiKeys'),
});

const webhooks = createRoute({
  getParentRoute: () => account,
  path: '/webhooks',
  validateSearch: (search: Record<string, unknown>): { webhook?: string } => {
    const webhook = textOf(search['webhook']);
    return webhook === undefined ? {} : { webhook };
  },
  component: pageOf(() => import('./pages/account/webhooks.js'), 'Webhooks'),
});

const people = createRoute({
  getParentRoute: () => account,
  path: '/people',
  component: pageOf(() => import('./pages/account/contributors.js'), 'Contributors'),
});

const profile = createRoute({
  getParentRoute: () => account,
  path: '/profile',
  component: pageOf(() => import('./pages/account/profile.js'), 'Profile'),
});

const plan = createRoute({
  getParentRoute: () => account,
  path: '/plan',
  component: pageOf(() => import('./pages/account/plan.js'), 'Plan'),
});

const health = createRoute({
  getParentRoute: () => account,
  path: '/health',
  component: pageOf(() => import('./pages/account/health.js'), 'Health'),
});

const settings = createRoute({
  getParentRoute: () => account,
  path: '/settings',
  component: pageOf(() => import('./pages/account/service-settings.js'), 'ServiceSettings'),
});

const ofList = [
  listHome,
  listSearch,
  listRecords,
  listFields,
  listSynonyms,
  listRules,
  listSuggestions,
  listAnalytics,
  listSettings,
];

export const router = createRouter({
  routeTree: root.addChildren([
    entry,
    signIn,
    openId,
    account.addChildren([
      start,
      lists,
      list.addChildren(ofList),
      groups,
      group,
      feeds,
      mediaStores,
      mediaFiles,
      models,
      keys,
      webhooks,
      people,
      profile,
      plan,
      health,
      settings,
    ]),
  ]),
  basepath: '/console',
  defaultErrorComponent: FailedPage,
  defaultPreload: 'intent',
  // Without it, going back leads to the top of the page.
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
