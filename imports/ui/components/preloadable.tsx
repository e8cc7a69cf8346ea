/** A component whose code is loaded with its first rendering, or ahead of it. */
import { lazy, useState } from 'react';
import type { ComponentType } from 'react';

export interface Preloadable<P> {
  /** For use within a `Suspense`. */
  readonly Component: ComponentType<P>;
  readonly preload: () => void;
}

export function preloadable<P extends object>(load: () => Promise<ComponentType<P>>): Preloadable<P> {
  let loading: Promise<ComponentType<P>> | undefined;
  let loaded: ComponentType<P> | undefined;
  const loadOnce = async (): Promise<ComponentType<P>> => {
    loading ??= load();
    try {
      loaded = await loading;
      return loaded;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
  const Lazy: ComponentType<P> = lazy(async () => ({ default: await loadOnce() }));
  return {
    Component: function Preloadable(props) {
      // React would show the fallback first, for at least 300 ms, however early the code was loaded.
      const [Shown] = useState(() => loaded ?? Lazy);
      return <Shown {...props} />;
    },
    // A failure is shown with the rendering, which tries again.
    preload: () => void loadOnce().catch(() => undefined),
  };
}
