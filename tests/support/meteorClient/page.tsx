/** The script of a test's page: the dashboard and the helpers, as an app's client imports them. */
import { StrictMode, useMemo } from 'react';
import type { FunctionComponent } from 'react';
import { createRoot } from 'react-dom/client';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Tracker } from 'meteor/tracker';
import { createMeteorData } from '../../../imports/ui/data/meteor/createMeteorData';
import { Dashboard } from '../../../imports/ui/Dashboard';
import { BolideProvider } from '../../../imports/ui/hooks/BolideProvider';
import { useConversation } from '../../../imports/ui/hooks/useConversation';
import { useRun } from '../../../imports/ui/hooks/useRun';
import { createBolide } from '../../../imports/ui/data/meteor/createBolide';
import { createMeteorHelpers } from '../../../imports/ui/data/meteor/createMeteorHelpers';
import { openCollections } from '../../../imports/ui/data/meteor/openCollections';
import { MeteorSource } from '../../../imports/ui/data/meteor/MeteorSource';
import { trackDocuments } from '../../../imports/ui/data/meteor/trackDocuments';
import type { DocumentQuery } from '../../../imports/ui/data/meteor/trackDocuments';
import { TrackedObservable } from '../../../imports/ui/data/meteor/TrackedObservable';
import { useObservable } from '../../../imports/ui/hooks/useObservable';

const packages = { Meteor, Mongo, Tracker };
const source = MeteorSource.of(packages);

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

/** Mounts a component as `mount` does, with the data that Bolide's hooks need. */
function mountWithData(Component: FunctionComponent, isStrict: boolean): () => void {
  const data = createMeteorData(packages);
  return mount(
    () => (
      <BolideProvider data={data}>
        <Component />
      </BolideProvider>
    ),
    isStrict,
  );
}

function mountDashboard(isStrict: boolean): () => void {
  // Changes show at once, so that tests need not wait.
  const data = createMeteorData(packages, { reloadIntervalMs: 0 });
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
  mountWithData,
  useConversation,
  useRun,
  useTracked: <T extends object>(read: () => T) =>
    useObservable(useMemo(() => new TrackedObservable(Tracker, read), [])),
  mountDashboard,
  collection: (name: string) => source.collection(name),
  trackDocuments: <T extends { readonly _id: string }>(query: DocumentQuery<T>) => trackDocuments(source, query),
  bolide: createBolide(packages),
  collections: openCollections(packages),
  ...createMeteorHelpers(packages),
};
export type TestPage = typeof page;

Object.assign(window, { page });
