/** The programs that Meteor builds: the server, browsers, and the legacy bundle for old browsers. */
export type MeteorArch = 'os' | 'web.browser' | 'web.browser.legacy';

export const METEOR_ARCHES: readonly MeteorArch[] = ['os', 'web.browser', 'web.browser.legacy'];
export const BROWSER_ARCHES: readonly MeteorArch[] = ['web.browser', 'web.browser.legacy'];
