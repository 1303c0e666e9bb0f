import { runAreas } from '../groups.ts';

runAreas(['browser', 'client'], 1, 3);
