/** The frame of all screens: environment, navigation, search, shortcuts. */
import {
  ActionIcon,
  Alert,
  Badge,
  Group,
  Kbd,
  Modal,
  NavLink,
  Stack,
  Table,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import {
  DotsHorizontalIcon,
  ExitIcon,
  MagnifyingGlassIcon,
  MoonIcon,
  QuestionMarkIcon,
  SunIcon,
} from '@radix-ui/react-icons';
import { Component, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { connection } from '../data/connection.ts';
import { listen, live } from '../data/live.ts';
import { queryClient, useSignedIn } from '../data/queries.ts';
import { shopEnvironment, shopName } from '../environment.ts';
import { Empty, Loading, PageTitle, Problem } from '../parts/page.tsx';
import { shortcutHelp, useShortcuts } from '../parts/shortcuts.ts';
import { useScrollPlace } from '../parts/tables/place.ts';
import { signOut } from '../session/session.ts';
import { ClockBar } from './clock-bar.tsx';
import { openPalette, Palette } from './palette.tsx';
import { screens } from './screens.ts';

const liveTexts = {
  connecting: { label: 'connecting', color: 'gray', help: 'The event stream is being opened.' },
  live: { label: 'live', color: 'green', help: 'Changes appear by themselves.' },
  polling: {
    label: 'every 15 s',
    color: 'yellow',
    help: 'The event stream was refused: data is read every 15 seconds.',
  },
  offline: { label: 'offline', color: 'red', help: 'The server does not respond.' },
} as const;

function LiveBadge() {
  const state = useSyncExternalStore(live.subscribe, live.get);
  const isAway = useSyncExternalStore(connection.subscribe, connection.isAway);
  const { label, color, help } = liveTexts[isAway ? 'offline' : state];
  return (
    <Badge variant="dot" color={color} role="status" aria-label={`Updates: ${label}`} title={help}>
      {label}
    </Badge>
  );
}

/** "ada"; a sign-in by link has no name. */
function useWho(): string {
  return useSignedIn().person.username ?? 'operator';
}

function Header({ onHelp }: { readonly onHelp: () => void }) {
  const who = useWho();
  const { colorScheme, toggleColorScheme } = useMantineColorScheme();
  return (
    <Group justify="space-between" mb="md" wrap="nowrap" gap="xs" className="no-print">
      <UnstyledButton
        onClick={openPalette}
        className="card"
        style={{ padding: '6px 12px', flex: '1 1 8rem', maxWidth: '26rem' }}
      >
        <Group gap="xs" wrap="nowrap">
          <MagnifyingGlassIcon aria-hidden="true" />
          <Text size="sm" c="dimmed" style={{ flex: 1 }}>
            Search and do
          </Text>
          <Kbd size="xs" visibleFrom="sm">
            Ctrl K
          </Kbd>
        </Group>
      </UnstyledButton>
      <Group gap="xs" wrap="nowrap">
        <LiveBadge />
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Light or dark"
          onClick={() => toggleColorScheme()}
        >
          {colorScheme === 'dark' ? <SunIcon /> : <MoonIcon />}
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Keyboard shortcuts"
          onClick={onHelp}
          visibleFrom="sm"
        >
          <QuestionMarkIcon />
        </ActionIcon>
        <Text size="sm" truncate maw="12rem" title={`Signed in: ${who}`} visibleFrom="sm">
          {who}
        </Text>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Sign out"
          title={`Sign out ${who}`}
          onClick={() => void signOut()}
        >
          <ExitIcon />
        </ActionIcon>
      </Group>
    </Group>
  );
}

function useVisibleScreens() {
  const { person } = useSignedIn();
  return screens.filter(({ isForStaff }) => person.isAdmin || isForStaff);
}

function Navigation() {
  const [location] = useLocation();
  return (
    <Stack gap={2} component="nav" aria-label="Screens">
      <p className="shop-name" title={shopName}>
        {shopName}
      </p>
      {useVisibleScreens().map(({ path, title, icon: Icon, badge: Badge }) => {
        const href = `/${path}`;
        const isOpen = location === href || (path !== '' && location.startsWith(`${href}/`));
        return (
          <NavLink
            key={path}
            component={Link}
            href={href}
            label={title}
            active={isOpen}
            aria-current={isOpen ? 'page' : undefined}
            leftSection={<Icon />}
            rightSection={Badge === undefined ? null : <Badge />}
            style={{ borderRadius: 6 }}
          />
        );
      })}
    </Stack>
  );
}

/** Phones: the screens that are used most, and all others behind More. */
function Tabs() {
  const [location] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const visible = useVisibleScreens();
  const who = useWho();
  const main = visible.filter(({ path }) => ['', 'orders', 'cheeses'].includes(path));
  const tab = {
    display: 'grid',
    placeItems: 'center',
    padding: '8px 0',
    textDecoration: 'none',
    color: 'inherit',
  } as const;
  return (
    <>
      <nav className="tabs" aria-label="Screens">
        {main.map(({ path, title, icon: Icon }) => {
          const isCurrent = path === '' ? location === '/' : location.startsWith(`/${path}`);
          return (
            <Link key={path} href={`/${path}`} style={tab} aria-current={isCurrent ? 'page' : undefined}>
              <Icon />
              <Text size="xs" fw={isCurrent ? 700 : 400}>
                {title}
              </Text>
            </Link>
          );
        })}
        <UnstyledButton style={tab} onClick={() => setOpen(true)}>
          <DotsHorizontalIcon aria-hidden="true" />
          <Text size="xs">More</Text>
        </UnstyledButton>
      </nav>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Screens">
        <Stack gap={2}>
          <Text size="sm" c="dimmed" px={12} pb={4}>
            Signed in: {who}
          </Text>
          {visible
            .filter((screen) => !main.includes(screen))
            .map(({ path, title, icon: Icon, badge: Badge }) => (
              <NavLink
                key={path}
                component={Link}
                href={`/${path}`}
                label={title}
                leftSection={<Icon />}
                rightSection={Badge === undefined ? null : <Badge />}
                onClick={() => setOpen(false)}
              />
            ))}
        </Stack>
      </Modal>
    </>
  );
}

function ShortcutHelp({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <Table>
        <Table.Tbody>
          {[...shortcutHelp, ...screens.map(({ key, title }) => [`g ${key}`, title] as const)].map(
            ([keys, text]) => (
              <Table.Tr key={keys}>
                <Table.Td>
                  <Kbd>{keys}</Kbd>
                </Table.Td>
                <Table.Td>{text}</Table.Td>
              </Table.Tr>
            ),
          )}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}

export function EnvironmentBar() {
  return (
    <section aria-label="Environment" className="environment">
      {shopEnvironment}
    </section>
  );
}

/** The page before its script has run. */
export function Starting() {
  return (
    <>
      <EnvironmentBar />
      <div className="shell">
        <aside className="side">
          <p className="shop-name">{shopName}</p>
        </aside>
        <main className="main">
          <Loading what="the console" />
        </main>
      </div>
    </>
  );
}

/** Shown while the server does not respond. */
function AwayBar() {
  const isAway = useSyncExternalStore(connection.subscribe, connection.isAway);
  return isAway ? (
    <Alert color="red" variant="filled" className="away no-print" role="alert">
      The server does not respond. What was read stays here. Orders that you move wait until it is back; save
      other changes then.
    </Alert>
  ) : null;
}

/** A screen whose code cannot be loaded or run does not take the others with it. */
class ScreenBoundary extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error === null ? (
      this.props.children
    ) : (
      <Problem error={error} retry={() => window.location.reload()} />
    );
  }
}

export function Shell() {
  const { curd } = useSignedIn();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [location] = useLocation();
  useEffect(() => listen(curd, queryClient), [curd]);
  useShortcuts({ '?': () => setHelpOpen(true) });
  const visible = useVisibleScreens();
  useScrollPlace(location);
  return (
    <>
      <a href="#content" className="skip-link">
        Skip to the content
      </a>
      <EnvironmentBar />
      <div className="shell">
        <aside className="side">
          <Navigation />
        </aside>
        <main className="main" id="content" tabIndex={-1}>
          <Header onHelp={() => setHelpOpen(true)} />
          <AwayBar />
          {shopEnvironment === 'production' ? null : <ClockBar />}
          <ScreenBoundary key={location.split('/')[1]}>
            <Switch>
              {visible.map(({ path, component: Component }) => (
                <Route key={path} path={path === '' ? '/' : `/${path}/:id?`}>
                  {(params) => <Component id={(params as { readonly id?: string }).id} />}
                </Route>
              ))}
              {/* Home is not for staff without the scope admin: their first screen is opened. */}
              <Route path="/">
                <Redirect to={`/${visible[0]?.path ?? ''}`} replace />
              </Route>
              <Route>
                <PageTitle title="Not found" />
                <Empty title="There is no such screen">Choose another one in the navigation.</Empty>
              </Route>
            </Switch>
          </ScreenBoundary>
        </main>
      </div>
      <Tabs />
      <Palette />
      <ShortcutHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </>
  );
}
