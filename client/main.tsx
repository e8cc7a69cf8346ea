/** Meteor's browser entry. */
import { Meteor } from 'meteor/meteor';
import '../imports/ui/styles/tokens.css';
import '../imports/ui/styles/base.css';
import '../imports/ui/styles/shell.css';
import '../imports/ui/styles/overview.css';
import '../imports/ui/styles/runs.css';
import '../imports/ui/styles/run.css';
import '../imports/ui/styles/pages.css';
import { createMeteorData } from '../imports/ui/data/meteor/createMeteorData';
import { mountDashboard } from '../imports/ui/mountDashboard';

Meteor.startup(() => {
  const place = document.getElementById('app');
  if (place !== null) mountDashboard(place, createMeteorData());
});
