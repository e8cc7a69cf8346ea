/** Renders one hook in a page of jsdom, and lets a test wait for what it returns. */
import { StrictMode } from 'react';
import type { ReactNode } from 'react';
import type { DashboardData } from '../../../imports/ui/data/DashboardData';
import { BolideProvider } from '../../../imports/ui/hooks/BolideProvider';
import { openReactPage } from './openReactPage';

export interface RenderedHook<T, P> {
  readonly current: T;
  /** Every value that was rendered, oldest first. */
  readonly values: readonly T[];
  readonly render: (props: P) => void;
  readonly unmount: () => void;
  /** Resolves with the first rendered value that matches, from now on. */
  readonly until: (matches: (value: T) => boolean) => Promise<T>;
}

export interface RenderHookOptions<T, P> {
  readonly useHook: (props: P) => T;
  readonly props: P;
  readonly data: DashboardData;
  readonly isStrict?: boolean;
}

/** Waits that take longer are reported with the last value, before the test runner's own limit. */
const PATIENCE_MS = 30_000;

export function renderHook<T, P>(options: RenderHookOptions<T, P>): RenderedHook<T, P> {
  const { data, useHook, isStrict = true } = options;
  const { createRoot, document } = openReactPage();
  const root = createRoot(document.body.appendChild(document.createElement('div')));
  const values: T[] = [];
  const waiting = new Set<() => void>();
  const Probe = ({ props }: { readonly props: P }): ReactNode => {
    values.push(useHook(props));
    queueMicrotask(() => waiting.forEach((check) => check()));
    return null;
  };
  const render = (props: P): void => {
    const tree = (
      <BolideProvider data={data}>
        <Probe props={props} />
      </BolideProvider>
    );
    root.render(isStrict ? <StrictMode>{tree}</StrictMode> : tree);
  };
  render(options.props);
  const current = (): T => {
    const value = values.at(-1);
    if (value === undefined) throw new Error('Nothing has been rendered yet.');
    return value;
  };
  return {
    get current() {
      return current();
    },
    values,
    render,
    unmount: () => root.unmount(),
    until: (matches) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`The awaited value was not rendered. The last one: ${JSON.stringify(values.at(-1))}`));
        }, PATIENCE_MS);
        const check = (): void => {
          const value = values.at(-1);
          if (value === undefined || !matches(value)) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(value);
        };
        waiting.add(check);
        check();
      }),
  };
}
