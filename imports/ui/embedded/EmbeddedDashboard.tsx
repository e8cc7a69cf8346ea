/** The dashboard as a component of an app. */
import { useCallback, useState } from 'react';
import { createPortal } from 'react-dom';
import { Dashboard } from '../Dashboard';
import type { DashboardData } from '../data/DashboardData';
import { openShadowTree } from './openShadowTree';

/** @param data the same object in every rendering: `createMeteorData()` is called once, outside of components */
export function EmbeddedDashboard({ data }: { readonly data: DashboardData }) {
  const [root, setRoot] = useState<ShadowRoot>();
  const open = useCallback((host: HTMLElement | null) => {
    if (host !== null) setRoot(openShadowTree(host));
  }, []);
  return <div ref={open}>{root !== undefined && createPortal(<Dashboard data={data} />, root)}</div>;
}
