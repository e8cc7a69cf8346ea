import { expect } from 'chai';
import { createElement, Suspense } from 'react';
import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { preloadable } from '../../../../imports/ui/components/preloadable';
import type { Preloadable } from '../../../../imports/ui/components/preloadable';
import { until } from '../../../support/until';

interface Props {
  readonly name: string;
}

const Greeting = ({ name }: Props): ReactNode => createElement('p', {}, `Hello, ${name}!`);

const shown = ({ Component }: Preloadable<Props>): string =>
  renderToStaticMarkup(createElement(Suspense, { fallback: 'Loading' }, createElement(Component, { name: 'Ann' })));

describe('a preloadable component', () => {
  it('is shown at once if its code was loaded ahead', async () => {
    let loads = 0;
    const greeting = preloadable<Props>(() => {
      loads += 1;
      return Promise.resolve(Greeting);
    });
    expect(shown(greeting)).to.include('Loading');
    greeting.preload();
    greeting.preload();
    await until(() => shown(greeting) === '<p>Hello, Ann!</p>');
    expect(loads).to.equal(1);
  });

  it('is loaded again after a failure', async () => {
    let loads = 0;
    const greeting = preloadable<Props>(() => {
      loads += 1;
      return loads === 1 ? Promise.reject(new Error('offline')) : Promise.resolve(Greeting);
    });
    greeting.preload();
    await until(() => {
      greeting.preload();
      return shown(greeting) === '<p>Hello, Ann!</p>';
    });
    expect(loads).to.equal(2);
  });
});
