/** Mounts what fills a page. */
import { StrictMode } from 'react';
import type { ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { showPagesBelow } from './shell/route';

export interface MountOptions {
  /**
   * The path below which the app serves this page at every address, such as `/admin`: pages of the dashboard then have
   * addresses of their own, such as `/admin/runs`. Default: they are behind `#`, such as `/admin#/runs`.
   */
  readonly path?: string | undefined;
}

/** @returns unmounts it */
export function mountPage(container: HTMLElement, page: ReactNode, { path }: MountOptions): () => void {
  if (path !== undefined) showPagesBelow(path);
  const root = createRoot(container);
  root.render(<StrictMode>{page}</StrictMode>);
  return () => root.unmount();
}
