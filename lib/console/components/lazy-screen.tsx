import { useQuery } from '@tanstack/react-query';
import type { ComponentType } from 'react';
import { readStored, store } from '../storage.ts';
import { Failure } from './failure.tsx';
import { PageHead, Skeleton } from './page.tsx';

/** The interval between two attempts to load the scripts of a screen, in milliseconds. */
const intervalMs = 5_000;

/**
 * Returns the component of a screen whose scripts are loaded when it is opened. While the service cannot be reached, it says so
 * and tries again: a reload of the page would leave nothing but the error page of the browser.
 *
 * @param load loads the module of the screen
 * @param name the name that the module exports, which is also the heading until it is loaded
 */
export function lazyScreen<Name extends string>(load: () => Promise<{ [Key in Name]: unknown }>, name: Name) {
  let Loaded: ComponentType | undefined;
  const read = async () => {
    Loaded ??= (await load())[name] as ComponentType;
  };
  function LazyScreen() {
    const { error, refetch, isFetching } = useQuery({
      queryKey: ['scripts', name],
      queryFn: async () => {
        await read().catch(() => readAgain(name, read));
        return null;
      },
      enabled: Loaded === undefined,
      refetchInterval: ({ state }) => (state.error ? intervalMs : false),
      refetchOnReconnect: 'always',
      gcTime: 0,
    });
    if (Loaded) return <Loaded />;
    return (
      <>
        <PageHead title={name} />
        {error && !isFetching ? <Failure error={error} retry={() => void refetch()} /> : <Skeleton />}
      </>
    );
  }
  // The router waits for it before it shows the screen, and tells nobody why it failed.
  return Object.assign(LazyScreen, { preload: () => read().catch(() => {}) });
}

/**
 * Loads scripts that could not be loaded. If the service responds and does not have them, the page is one of an earlier version,
 * and is reloaded once.
 *
 * @throws Error that says what happens next
 */
async function readAgain(name: string, read: () => Promise<void>): Promise<void> {
  const isReached = await fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isReached)
    throw new Error(
      `This screen is not loaded yet, and the service cannot be reached. The console tries again every ${intervalMs / 1_000} seconds.`,
    );
  const storageKey = `crewboard.reloaded.${name}`;
  try {
    await read();
    store('sessionStorage', storageKey, undefined);
  } catch (error) {
    if (readStored('sessionStorage', storageKey) !== undefined) throw error;
    store('sessionStorage', storageKey, 'yes');
    // Without storage, a page that stays incomplete would be reloaded for ever.
    if (readStored('sessionStorage', storageKey) === undefined) throw error;
    location.reload();
    await new Promise(() => {});
  }
}
