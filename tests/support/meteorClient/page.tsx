/** The script of a test's page: the dashboard and the helpers, as an app's client imports them. */
import { StrictMode } from 'react';
import type { FunctionComponent } from 'react';
import { createRoot } from 'react-dom/client';
import { Meteor } from 'meteor/meteor';
import { Tracker } from 'meteor/tracker';
import { createMeteorData } from '../../../imports/ui/data/meteor/createMeteorData';
import { Dashboard } from '../../../imports/ui/Dashboard';
import { callMethod } from '../../../imports/ui/data/meteor/callMethod';
import { clientCollection } from '../../../imports/ui/data/meteor/clientCollection';
import { trackDelta } from '../../../imports/ui/data/meteor/trackDelta';
import { trackDocuments } from '../../../imports/ui/data/meteor/trackDocuments';
import { trackRun } from '../../../imports/ui/data/meteor/trackRun';
import { trackToolCalls } from '../../../imports/ui/data/meteor/trackToolCalls';
import { useDelta } from '../../../imports/ui/data/meteor/useDelta';
import { useRun } from '../../../imports/ui/data/meteor/useRun';
import { useToolCalls } from '../../../imports/ui/data/meteor/useToolCalls';
import { useTracked } from '../../../imports/ui/data/meteor/useTracked';

/** Renders a component, and returns a function that unmounts it. */
function mount(Component: FunctionComponent, isStrict: boolean): () => void {
  const container = document.body.appendChild(document.createElement('div'));
  const root = createRoot(container);
  root.render(
    isStrict ? (
      <StrictMode>
        <Component />
      </StrictMode>
    ) : (
      <Component />
    ),
  );
  return () => {
    root.unmount();
    container.remove();
  };
}

function mountDashboard(isStrict: boolean): () => void {
  const data = createMeteorData();
  return mount(() => <Dashboard data={data} />, isStrict);
}

/** @param argument as JSON, because objects of the test are foreign to the page */
function subscribe(name: string, argument: string): Promise<void> {
  return new Promise((resolve) => Meteor.subscribe(name, JSON.parse(argument), { onReady: resolve }));
}

export const page = {
  Meteor,
  subscribe,
  Tracker,
  mount,
  mountDashboard,
  callMethod,
  clientCollection,
  trackDelta,
  trackDocuments,
  trackRun,
  trackToolCalls,
  useDelta,
  useRun,
  useToolCalls,
  useTracked,
};
export type TestPage = typeof page;

Object.assign(window, { page });
